/**
 * One call of a world: attempts at one place after the other, with one request id, until one of them has an answer or the
 * time is over.
 *
 * Invariants
 * C1  An attempt here claims the world, which only succeeds while no living process has it: a lease that lives is never
 *     taken from its owner, however long that one is silent.
 * C2  After each attempt without an answer the next one asks the database again who has the world.
 * C3  All attempts of a call have the same request id, and what the caller gets is what one of them answered.
 */
import { RepriseError } from '@reprise/contracts';
import type { Outcome, UnansweredReason } from './wire/outcome.js';

/** The places where a call is tried. */
interface CallPlaces {
  /** Does it here, when the world is open here or no living process has it. Never rejects. */
  here(signal: AbortSignal): Promise<Outcome>;
  /** Sends it to the process at an address. Never rejects. */
  there(address: string, signal: AbortSignal): Promise<Outcome>;
  /** Where the world was the last time. */
  readonly known: string | undefined;
  /** Remembers where the world is now; undefined when nobody said. */
  found(address: string | undefined): void;
  /** Waits. Resolves early when the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

/** Between two attempts, in milliseconds: doubling from the first to the last. */
const PAUSE_MS_FIRST = 4;
const PAUSE_MS_MAX = 128;

/** Attempts that follow each other at once, since one said where the world is. */
const HOPS_MAX = 3;

/**
 * Tries until there is an answer.
 *
 * @param signal aborted at the end of the caller's time
 * @returns the bytes of the output
 * @throws RepriseError `call_unanswered`, and the error with which the call has failed
 */
export async function tryEverywhere(places: CallPlaces, what: string, signal: AbortSignal): Promise<Uint8Array> {
  let address = places.known;
  let last: Outcome | undefined;
  let [hops, wait] = [0, PAUSE_MS_FIRST];
  while (!signal.aborted) {
    const outcome = await (address === undefined ? places.here(signal) : places.there(address, signal));
    if (outcome.kind === 'answer') return outcome.output;
    if (outcome.kind === 'error') throw outcome.error;
    const isCutShort = signal.aborted && outcome.kind === 'again' && outcome.reason === 'slow';
    if (last === undefined || (outcome.kind === 'again' && !isCutShort)) last = outcome; // what was found before says more
    if (last.kind === 'elsewhere' && isCutShort) last = outcome;
    const before = address;
    address = outcome.kind === 'elsewhere' ? outcome.address : undefined; // C2
    places.found(address);
    if (address !== undefined && address !== before && hops++ < HOPS_MAX) continue;
    await places.pause(wait, signal);
    hops = 0;
    wait = Math.min(2 * wait, PAUSE_MS_MAX);
  }
  throw unanswered(last ?? { kind: 'again', reason: 'slow' }, what);
}

const WHAT: Readonly<Record<UnansweredReason, string>> = {
  locked: 'another process has it open, and says not how to reach it',
  leaving: 'the process that had it is ending, and no other one has it yet',
  unknown_operation: 'the process that has it open does not know the operation',
  failed: 'the process that has it open has lost it, or its store failed',
  wrong_release: 'the world is of another release, which no process that was tried has',
  unreachable: 'no connection to the process that has it open',
  silent: 'the process that has it open is silent, and its lease is not over',
  cut: 'the connection was cut before the answer was whole',
  forged: 'the answer is not signed by a process of this fleet for this request',
  too_large: 'the answer is larger than an answer may be',
  refused: 'the process that has it open refused the request',
  slow: 'the operation has not ended',
  aborted: 'the caller stopped waiting',
  waiting: 'it is posted, and has not been executed yet',
  forgotten: 'it is not posted',
  abandoned: 'it was begun again and again',
};

/** The error of a call whose time is over. Whether it was executed is unknown. */
function unanswered(last: Outcome, what: string): RepriseError {
  const reason = last.kind === 'again' ? last.reason : 'locked';
  const cause = last.kind === 'again' ? last.error : undefined;
  const address = last.kind === 'elsewhere' ? last.address : undefined;
  return new RepriseError('call_unanswered', 'a call had no answer in its time', {
    where: what,
    actual: WHAT[reason],
    reason,
    ...(address === undefined ? {} : { address }),
    hint: 'It may have been executed. Make it again with the same id: then it is executed once.',
    ...(cause === undefined ? {} : { cause }),
  });
}
