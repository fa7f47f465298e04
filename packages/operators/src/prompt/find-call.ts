/** Finds a model call by what an operator sees of it. Frames are decoded, from the newest back, and never replayed. */
import {
  type JournalRecord,
  type LlmGenerateParams,
  llmGenerateParams,
  type Receipt,
  RepriseError,
} from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';

/** The kind of effects that are model calls; written out, since its definition loads the whole agent. */
const MODEL_CALL = 'llm.generate@2';

type EffectRecord = JournalRecord & { readonly kind: 'effect' };

/** A frame of the journal with its records decoded. */
export interface Decoded {
  readonly seq: number;
  readonly at: number;
  readonly records: readonly JournalRecord[];
}

/** A model call as the journal holds it. */
export interface Call {
  readonly record: EffectRecord;
  readonly params: LlmGenerateParams;
  readonly frame: Decoded;
  /** The index of its record in the frame. */
  readonly index: number;
}

/** How a model call ended; without a receipt it is open. */
export interface CallEnd {
  readonly receipt: Receipt | undefined;
  readonly receiptFrame: number | null;
  readonly attempts: number;
  /** The time of the first attempt that was recorded apart from the effect. */
  readonly startedAt: number | undefined;
}

/** How many frames are read at once on the way back. */
const CHUNK = 128;

/** The frames from one on back to the first. */
export async function* framesBack(store: ReadonlyStore, from: number, signal?: AbortSignal): AsyncGenerator<Decoded> {
  for (let last = from; last >= 0; last -= CHUNK) {
    const chunk: Decoded[] = [];
    for await (const stored of store.journal.read(Math.max(0, last - CHUNK + 1), last)) chunk.push(decoded(stored));
    signal?.throwIfAborted();
    yield* chunk.reverse();
  }
}

function decoded({ seq, at, bytes }: { seq: number; at: number; bytes: Uint8Array }): Decoded {
  return { seq, at, records: readFrame(bytes, seq).all };
}

/** The model calls of a frame, the last one first. */
export function callsIn(frame: Decoded): Call[] {
  return frame.records
    .flatMap((record, index) => {
      if (record.kind !== 'effect' || record.name !== MODEL_CALL) return [];
      const params = llmGenerateParams.safeParse(record.params);
      return params.success ? [{ record, params: params.data, frame, index }] : [];
    })
    .reverse();
}

const PLACE = /^(\d{1,15})(?:\.(\d{1,15}))?$/;
const DIGITS = /^(?:sha256:)?([0-9a-f]{8,64})(?:…|\.\.\.)?$/i;

/**
 * Finds a call: `last`, the place of its effect, its answer or another record of the two frames (`24.6`), or at least 8
 * digits of the effect's id.
 *
 * @throws RepriseError `invalid_argument` when nothing, or more than one call, is meant
 */
export async function findCall(store: ReadonlyStore, what: string, signal?: AbortSignal): Promise<Call> {
  const { seq: head } = await store.journal.head();
  const place = PLACE.exec(what);
  if (place !== null && Number(place[1]) <= head) return callAt(store, what, place, signal);
  const digits = DIGITS.exec(what)?.[1]?.toLowerCase();
  if (what !== 'last' && digits === undefined) throw noCall(what);
  const isMeant = ({ record }: Call) => digits === undefined || record.effect.startsWith(digits);
  const call = await newest(store, head, isMeant, signal);
  if (call === undefined) throw noCall(what);
  return call;
}

async function newest(
  store: ReadonlyStore,
  from: number,
  isMeant: (call: Call) => boolean,
  signal: AbortSignal | undefined,
): Promise<Call | undefined> {
  for await (const frame of framesBack(store, from, signal)) {
    const found = callsIn(frame).find(isMeant);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function callAt(
  store: ReadonlyStore,
  what: string,
  place: RegExpExecArray,
  signal: AbortSignal | undefined,
): Promise<Call> {
  const [seq, i] = [Number(place[1]), place[2] === undefined ? undefined : Number(place[2])];
  for await (const frame of framesBack(store, seq, signal)) {
    const answered = answeredBy(frame);
    const here = callsIn(frame);
    const exact = here.find(({ index }) => index === i);
    if (exact !== undefined) return exact;
    // The words of the answer are meant by a record of its frame; the request that follows, by its own place.
    if (answered !== undefined) {
      const call = await newest(store, seq - 1, ({ record }) => record.effect === answered, signal);
      if (call !== undefined) return call;
    }
    const [only, another] = here;
    if (only !== undefined && another === undefined) return only;
    throw another === undefined ? noCall(what) : severalCalls(what, here);
  }
  throw noCall(what);
}

function answeredBy({ records }: Decoded): string | undefined {
  const [first] = records;
  return first?.kind === 'receipt' ? first.effect : undefined;
}

function noCall(actual: string): RepriseError {
  return new RepriseError('invalid_argument', 'no model call is meant by this', {
    expected: 'last, the place of a model call or its answer (24.6), or the first 8 digits of an effect',
    actual,
    hint: 'reprise log prints the places of answers; reprise tail those of effects.',
  });
}

function severalCalls(actual: string, calls: readonly Call[]): RepriseError {
  return new RepriseError('invalid_argument', 'the frame asks several models', {
    expected: calls.map(({ frame, index }) => `${frame.seq}.${index}`).join(', '),
    actual,
  });
}

/** How a call ended. Reading stops at its receipt. */
export async function endOf(store: ReadonlyStore, { record, frame }: Call, signal?: AbortSignal): Promise<CallEnd> {
  let [attempts, startedAt] = [0, undefined as number | undefined];
  for await (const stored of store.journal.read(frame.seq)) {
    signal?.throwIfAborted();
    const { seq, at, records } = decoded(stored);
    for (const one of records) {
      if (one.kind === 'attempt' && one.effect === record.effect) {
        attempts = one.attempt;
        if (seq > frame.seq && one.attempt === 1) startedAt ??= at;
      }
      if (one.kind === 'settled' && one.effect === record.effect) {
        const { status, code } = one;
        const receipt: Receipt = { adapter: 'kernel', status, attempts, ...(code === null ? {} : { code }) } as Receipt;
        return { receipt, receiptFrame: seq, attempts, startedAt };
      }
      if (one.kind !== 'receipt' || one.effect !== record.effect) continue;
      return { receipt: one.receipt, receiptFrame: seq, attempts: one.receipt.attempts, startedAt };
    }
  }
  return { receipt: undefined, receiptFrame: null, attempts, startedAt };
}
