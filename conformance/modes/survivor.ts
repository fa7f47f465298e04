/**
 * The judge of mode `crash`: the conditions that a struck case has to meet, whatever the blow.
 *
 * Invariants checked of each case and each blow
 * C1  The run stops for the reason that its scenario states.
 * C2  Every head that a process was acknowledged is in the journal, in order.
 * C3  Nothing that may happen once was replayed twice, counted outside the processes; nor was what can be looked up.
 * C4  What may happen once, and was begun and not settled when a process died, is `outcome_unknown`: the kernel says so of
 *     that, and of nothing else; and the model of a run that completes has read it.
 * C5  Each effect is settled at most once, and none is open in the end but those that its scenario names.
 * C6  Each request is in order by the rules of its protocol: no call without its result, no result without its call.
 * C7  The journal is replayed, and every frame is the same in bytes.
 * C8  Text, events and what commands were answered are those of a run without a crash, but that a call fails where it
 *     would have completed when nobody knows what came of it; or they are, together, one of the other ends that the
 *     scenario names. Where nothing is unknown the model has read what its scenario shows.
 */
import assert from 'node:assert/strict';
import { inspect, isDeepStrictEqual } from 'node:util';
import { agentApp } from '@reprise/agent';
import { verifyStore } from '@reprise/kernel';
import type { Played } from '../scenarios/play.js';
import type { OtherEnd } from '../scenarios/scenario.js';
import type { TapePlayer } from '../scenarios/tape-player.js';
import type { Case } from './cases.js';
import type { Mortal } from './mortal.js';
import { framesOf, settlementsOf, UNKNOWN } from './settlements.js';

/** The results of a struck case. */
export interface Survivor extends Played {
  readonly mortal: Mortal;
  readonly wire: TapePlayer;
  /** Effects that may happen once, and were begun and not settled when a process died. */
  readonly interrupted: ReadonlySet<string>;
}

/** The same case without a blow. */
export interface Undisturbed {
  /** The number of its appends, and of its calls outside. */
  readonly appends: number;
  readonly dispatches: number;
  readonly text: string;
}

/** Checks the invariants for a survivor. @throws Error that begins with the broken one */
export async function holdSurvivor({ scenario }: Case, survivor: Survivor, without: Undisturbed): Promise<void> {
  const { ends, afterCrash } = scenario;
  const { outcome, told, events, mortal, wire, interrupted, open } = survivor;
  const settled = settlementsOf(await framesOf(mortal.store));
  const unknown = [...settled].filter(([, how]) => how === UNKNOWN).map(([effect]) => effect);

  holdSame('C1', outcome.stop, ends.stop);
  await holdHeads(mortal);
  for (const [effect, times] of mortal.replayed) assert.equal(times, 1, `C3: ${effect} was replayed ${times} times`);
  holdSame('C4', new Set(unknown), interrupted);
  holdSame('C5', open, ends.open ?? 0);
  holdSame('C6', wire.problems, []);
  const mustBeTold = unknown.length > 0 && ends.stop.kind === 'Completed';
  assert.ok(
    !mustBeTold || hasRead(wire, NOBODY_KNOWS),
    'C4: no model has read that the outcome of its call is unknown',
  );
  const verified = await verifyStore(await mortal.store.openReadonly(), { app: agentApp });
  holdSame('C7', verified.replayed, verified.frames);
  const came: Came = { text: outcome.text, told, events: events.map(({ type }) => type) };
  const asWithout: Came = { text: without.text, told: ends.told ?? [], events: ends.events };
  const right = [asWithout, ...(afterCrash?.ends ?? []).map((other) => ({ ...asWithout, ...other }))];
  if (!right.some((one) => isAs(came, one, unknown.length))) holdSame('C8', came, asWithout);
  const mustBeShown = unknown.length === 0 ? ends.shown : undefined;
  assert.ok(mustBeShown === undefined || hasRead(wire, mustBeShown), `C8: no model has read ${mustBeShown}`);
}

const WHOLE = { depth: Number.POSITIVE_INFINITY, breakLength: Number.POSITIVE_INFINITY };

function holdSame(invariant: string, came: unknown, expected: unknown): void {
  if (isDeepStrictEqual(came, expected)) return;
  assert.fail(`${invariant}: ${inspect(came, WHOLE)} instead of ${inspect(expected, WHOLE)}`);
}

/** The results of a run, besides its stop reason. */
type Came = Required<OtherEnd>;

/** Whether this is the expected end, except that as many calls fail in place of completing as have unknown outcomes. */
function isAs(came: Came, expected: Came, unknown: number): boolean {
  let left = unknown;
  const events = came.events.map((type, i) => {
    const isLost = type === 'tool.failed' && expected.events[i] === 'tool.completed' && left-- > 0;
    return isLost ? 'tool.completed' : type;
  });
  return isDeepStrictEqual({ ...came, events }, expected);
}

/** The text that a model reads about a call with an unknown outcome. */
const NOBODY_KNOWS = /outcome of this call is unknown/;

function hasRead(wire: TapePlayer, words: RegExp): boolean {
  return wire.bodies.some((body) => words.test(body));
}

/** C2 */
async function holdHeads({ store, acknowledged }: Mortal): Promise<void> {
  const reader = await store.openReadonly();
  const heads: string[] = [];
  for await (const { head } of reader.journal.read(0)) heads.push(head);
  const found = acknowledged.map((head) => heads.indexOf(head));
  assert.ok(!found.includes(-1), `C2: an acknowledged head is not in the journal: ${acknowledged[found.indexOf(-1)]}`);
  assert.deepEqual(
    found,
    found.toSorted((a, b) => a - b),
    'C2: acknowledged heads are out of order',
  );
}
