/**
 * What the frames before a model call say of it: the step that it is, the step before, and in which frame each item of
 * its conversation came. Frames are decoded, from the call back, until everything is found.
 */
import { formatAddress, type JournalRecord } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { type Call, callsIn, type Decoded, framesBack } from './find-call.js';

/** How many frames are read on the way back: beyond that an origin is not known. About half a second. */
const FRAMES_MAX = 10_000;

/** How many of them are read for the configuration alone: that of a long session was set at its beginning, which all know. */
const FRAMES_FOR_CONFIGURATION = 256;

/** Where an item came into its session. */
interface ItemPlace {
  readonly frame: number;
  /** The sender of a message. */
  readonly from?: string;
  /** The effect whose receipt came in the frame. */
  readonly effect?: string;
}

/** What was found on the way back. */
export interface CallHistory {
  readonly step: { readonly run: number; readonly turn: number; readonly step: number } | null;
  readonly before: Call | undefined;
  /** The frame since which the configuration of the call holds. */
  readonly configured: number | undefined;
  place(item: number): ItemPlace | undefined;
  /** Where a call of a tool got its result: its results enter the conversation together, when the last one is there. */
  settled(callId: string): ItemPlace | undefined;
}

/**
 * Reads back from a call.
 *
 * @param items the indexes of the items whose frames are wanted
 */
export async function historyOf(
  store: ReadonlyStore,
  call: Call,
  items: Iterable<number>,
  signal?: AbortSignal,
): Promise<CallHistory> {
  const search = new Search(call, new Set(items));
  let [left, forConfiguration] = [FRAMES_MAX, FRAMES_FOR_CONFIGURATION];
  for await (const frame of framesBack(store, call.frame.seq, signal)) {
    search.take(frame);
    if (search.isOver || --left === 0) break;
    if (search.lacksConfigurationAlone && --forConfiguration === 0) break;
  }
  return search;
}

class Search implements CallHistory {
  readonly step: CallHistory['step'];
  before: Call | undefined;
  configured: number | undefined;
  readonly #places = new Map<number, ItemPlace>();
  readonly #settled = new Map<string, ItemPlace>();
  readonly #wanted: Set<number>;
  /** The frame seen last that changed the number of items. */
  #after: Decoded | undefined;
  #isFirst = false;

  constructor(
    private readonly call: Call,
    wanted: ReadonlySet<number>,
  ) {
    this.#wanted = new Set(wanted);
    this.step = stepIn(call);
  }

  get isOver(): boolean {
    return this.#isFirst || (this.lacksConfigurationAlone && this.configured !== undefined);
  }

  get lacksConfigurationAlone(): boolean {
    return this.#wanted.size === 0 && this.before !== undefined;
  }

  place(item: number): ItemPlace | undefined {
    return this.#places.get(item);
  }

  settled(callId: string): ItemPlace | undefined {
    return this.#settled.get(callId);
  }

  take(frame: Decoded): void {
    const { call } = this;
    for (const callId of settledIn(frame, call)) {
      if (!this.#settled.has(callId)) this.#settled.set(callId, placeIn(frame, call));
    }
    if (frame.seq < call.frame.seq) this.before ??= callsIn(frame).find((one) => isOfSameSession(one, call));
    this.configured ??= this.#configuredIn(frame);
    const leaf = sessionIn(frame, call);
    const count = itemsIn(leaf);
    if (count === undefined) return;
    this.#assign(count);
    this.#after = frame;
    if (leaf?.inc === undefined) return;
    this.#assign(0); // the session was made in this frame
    this.#isFirst = true;
  }

  /** The items from here on, before those of later frames, came in the frame that was seen last. */
  #assign(count: number): void {
    const frame = this.#after;
    if (frame === undefined) return;
    for (const item of this.#wanted) {
      if (item < count) continue;
      this.#places.set(item, placeIn(frame, this.call));
      this.#wanted.delete(item);
    }
  }

  #configuredIn({ seq, records }: Decoded): number | undefined {
    const isMeant = (one: JournalRecord) =>
      one.kind === 'fact' &&
      one.name === 'aos.agent/ConfigChanged@1' &&
      isOwn(one.from, this.call) &&
      (one.value as { readonly config_rev?: unknown }).config_rev === this.call.params.config_rev;
    return records.some(isMeant) ? seq : undefined;
  }
}

function stepIn({ frame, record, ...rest }: Call): CallHistory['step'] {
  const fact = frame.records.find(
    (one) => one.kind === 'fact' && one.name === 'aos.agent/LlmStepRequested@1' && isOwn(one.from, { record, ...rest }),
  );
  if (fact?.kind !== 'fact') return null;
  const { run, turn, step } = fact.value as Readonly<Record<'run' | 'turn' | 'step', number>>;
  return { run, turn, step };
}

/** The calls of tools that were settled in a frame. */
function settledIn({ records }: Decoded, call: Call): string[] {
  return records.flatMap((one) => {
    if (one.kind !== 'fact' || one.name !== 'aos.agent/ToolCallSettled@1' || !isOwn(one.from, call)) return [];
    const { call_id } = one.value as { readonly call_id?: unknown };
    return typeof call_id === 'string' ? [call_id] : [];
  });
}

function isOfSameSession({ record }: Call, { record: other }: Call): boolean {
  return record.plan[0] === other.plan[0] && record.plan[1] === other.plan[1];
}

function isOwn(cell: readonly unknown[] | null, { record }: Pick<Call, 'record'>): boolean {
  return cell !== null && cell[0] === record.plan[0] && cell[1] === record.plan[1];
}

type SessionLeaf = Readonly<Record<string, unknown>>;

/** What a frame changed in the call's session. */
function sessionIn({ records }: Decoded, call: Call): SessionLeaf | undefined {
  const last = records.at(-1);
  if (last?.kind !== 'state') return undefined;
  return last.leaves.find(([key]) => key[0] === 'cell' && isOwn(key.slice(1), call))?.[1] ?? undefined;
}

/** The number of items after a frame; undefined when the frame did not change it. */
function itemsIn(leaf: SessionLeaf | undefined): number | undefined {
  const changed = leaf?.['state.items'];
  const [count] = Array.isArray(changed) ? changed : [];
  return typeof count === 'number' ? count : undefined;
}

function placeIn({ seq, records }: Decoded, call: Call): ItemPlace {
  const [first] = records;
  if (first?.kind === 'receipt') return { frame: seq, effect: first.effect };
  if (first?.kind === 'request' && isOwn(first.to, call)) return { frame: seq, from: first.principal };
  const sent = records.find((one) => one.kind === 'event' && isOwn(one.to, call));
  const sender = sent?.kind === 'event' && Array.isArray(sent.from) ? sent.from : undefined;
  return { frame: seq, ...(sender === undefined ? {} : { from: formatAddress([sender[0], sender[1]]) }) };
}
