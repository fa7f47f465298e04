/**
 * Reads the end of a journal as a whole reading would, from as few frames as that needs: what a frame says of the past is the
 * effects that it names, and the places of the sessions that act in it. A reader begins a few frames before the end, and
 * further back where a frame names something older.
 */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { JournalRecord } from '@reprise/contracts';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';

/** Makes entries from frames, given in order. */
export interface FrameReader<T> {
  entriesOf(frame: Omit<StoredFrame, 'bytes'>, records: readonly JournalRecord[]): Promise<readonly T[]>;
}

/** The frames that a reader begins with, at least. */
const WINDOW_MIN = 64;

/** Reads the entries of the last frames, and of those that follow. */
export class RecentReader<T> {
  #reader: FrameReader<T>;
  #context = new Context();
  /** The first frame that the reader was given. */
  #from = 0;

  /** @param makeReader makes a reader that knows nothing yet */
  constructor(
    private readonly store: ReadonlyStore,
    private readonly makeReader: () => FrameReader<T>,
    private readonly signal?: AbortSignal,
  ) {
    this.#reader = makeReader();
  }

  /** The first frame that was read. */
  get from(): number {
    return this.#from;
  }

  /** The last entries up to a frame, the oldest first. @param most how many @param isMeant which entries count; all when absent */
  async last(head: number, most: number, isMeant: (entry: T) => boolean = () => true): Promise<readonly T[]> {
    for (let width = Math.max(WINDOW_MIN, 2 * most); ; width *= 4) {
      const read = await this.#readFrom(Math.max(head + 1 - width, 0), head);
      const entries = read.flatMap((frame) => frame.entries.filter(isMeant).map((entry) => ({ entry, frame })));
      const kept = entries.slice(Math.max(entries.length - most, 0));
      const [first] = kept;
      const isWhole =
        kept.length === most &&
        read.every(({ seq, isCovered }) => isCovered || first === undefined || seq < first.frame.seq);
      if (this.#from === 0 || isWhole) return kept.map(({ entry }) => entry);
    }
  }

  /** The entries of the next frame. */
  async entriesOf(frame: StoredFrame): Promise<readonly T[]> {
    const { all } = readFrame(frame.bytes, frame.seq);
    for (let width = frame.seq - this.#from; this.#from > 0 && !this.#context.covers(all); ) {
      width = Math.max(width * 4, WINDOW_MIN);
      await this.#readFrom(Math.max(frame.seq - width, 0), frame.seq - 1);
    }
    if (this.#from > 0) this.#context.take(all);
    return this.#reader.entriesOf(frame, all);
  }

  /** Reads frames anew, with a reader that knows nothing. */
  async #readFrom(from: number, to: number): Promise<readonly ReadEntries<T>[]> {
    this.#reader = this.makeReader();
    this.#context = new Context();
    this.#from = from;
    const read: ReadEntries<T>[] = [];
    for await (const frame of this.store.journal.read(from, to)) {
      this.signal?.throwIfAborted();
      const { all } = readFrame(frame.bytes, frame.seq);
      const isCovered = this.#context.covers(all);
      this.#context.take(all);
      read.push({ seq: frame.seq, isCovered, entries: await this.#reader.entriesOf(frame, all) });
    }
    return read;
  }
}

interface ReadEntries<T> {
  readonly seq: number;
  /** Whether all that it says of the past is among the frames that were read. */
  readonly isCovered: boolean;
  readonly entries: readonly T[];
}

/** What frames that were read say of effects and sessions. */
class Context {
  readonly #effects = new Set<string>();
  readonly #placed = new Set<string>();

  /** Whether a frame says nothing of older effects and of sessions whose place is not known. */
  covers(records: readonly JournalRecord[]): boolean {
    const own = new Context();
    for (const record of records) own.#learn(record);
    for (const session of madeIn(records)) own.#placed.add(session);
    return records.every((record) => {
      const effect = effectNamedBy(record);
      if (effect !== undefined && !this.#effects.has(effect) && !own.#effects.has(effect)) return false;
      const session = sessionPlacedBy(record);
      return session === undefined || this.#placed.has(session) || own.#placed.has(session);
    });
  }

  take(records: readonly JournalRecord[]): void {
    for (const record of records) this.#learn(record);
    for (const session of madeIn(records)) this.#placed.add(session);
  }

  #learn(record: JournalRecord): void {
    if (record.kind === 'effect') this.#effects.add(record.effect);
    if (record.kind === 'fact' && record.from?.[0] === SESSION_REDUCER && PLACING.includes(record.name))
      this.#placed.add(record.from[1]);
  }
}

/** The facts that say at which step a session is. A session that goes on after a wait requests a step soon after. */
const PLACING: readonly string[] = ['aos.agent/LlmStepRequested@1'];

/** The effect that a record is about, besides its emission. */
function effectNamedBy(record: JournalRecord): string | undefined {
  switch (record.kind) {
    case 'receipt':
    case 'settled':
    case 'deferred':
    case 'ask':
    case 'attempt':
      return record.effect;
    case 'command':
    case 'cell_command':
      return 'effect' in record.command.value ? record.command.value.effect : undefined;
    default:
      return undefined;
  }
}

/** The session whose step a record belongs to. */
function sessionPlacedBy(record: JournalRecord): string | undefined {
  if (record.kind === 'effect') return record.plan[0] === SESSION_REDUCER ? record.plan[1] : undefined;
  const prefix = `cell:${SESSION_REDUCER}/`;
  return record.kind === 'denial' && record.who.startsWith(prefix) ? record.who.slice(prefix.length) : undefined;
}

/** The sessions that a frame makes: it states the generation of each. */
function madeIn(records: readonly JournalRecord[]): readonly string[] {
  const state = records.at(-1);
  if (state?.kind !== 'state') return [];
  return state.leaves.flatMap(([[kind, reducer, key], changed]) =>
    kind === 'cell' && reducer === SESSION_REDUCER && changed !== null && 'inc' in changed ? [String(key)] : [],
  );
}
