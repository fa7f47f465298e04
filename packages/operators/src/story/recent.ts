/**
 * Reads the end of a journal as a whole reading would, from as few frames as that needs: what a frame says of the past is the
 * effects that it names, and the places of the sessions that act in it. A reader begins a few frames before the end; what a
 * frame names of older ones is recalled, so that the frames between are not read.
 */
import type { JournalRecord } from '@reprise/contracts';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { Context, type Named } from './named.js';
import { recallBefore } from './recall.js';

/** Makes entries from frames, given in order. */
export interface FrameReader<T> {
  entriesOf(frame: Omit<StoredFrame, 'bytes'>, records: readonly JournalRecord[]): Promise<readonly T[]>;
}

/** With so many frames, what they name of older ones is recalled; with fewer, more frames are read first. */
const WINDOW_MIN = 64;

/** The most decoded frames that are kept while more are read before them. */
const KEPT_MAX = 1_024;

/** Reads the entries of the last frames, and of those that follow. */
export class RecentReader<T> {
  #reader: FrameReader<T>;
  #context = new Context();
  /** The first frame that the reader was given. */
  #from = 0;
  /** Frames up to the last one that was read, decoded. */
  #kept: readonly DecodedFrame[] = [];

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
    const full = Math.max(WINDOW_MIN, 2 * most);
    for (
      let width = Math.min(Math.max(most, 8), full);
      ;
      width = width < full ? Math.min(2 * width, full) : 4 * width
    ) {
      const from = Math.max(head + 1 - width, 0);
      let kept = lastOf(await this.#readFrom(from, head), most, isMeant);
      const missing = missingIn(kept);
      if (from > 0 && isAny(missing)) {
        if (width < full) continue;
        if (kept.entries.length === most) kept = lastOf(await this.#readFrom(from, head, missing), most, isMeant);
      }
      if (from > 0 && kept.entries.length < most) continue;
      this.#kept = [];
      return kept.entries;
    }
  }

  /** The entries of the next frame. */
  async entriesOf(frame: StoredFrame): Promise<readonly T[]> {
    const { all } = readFrame(frame.bytes, frame.seq);
    if (this.#from > 0 && isAny(this.#take(all))) {
      const from = Math.max(frame.seq - WINDOW_MIN, 0);
      await this.#readFrom(from, frame.seq - 1);
      await this.#readFrom(from, frame.seq - 1, this.#take(all));
      this.#take(all);
    }
    return this.#reader.entriesOf(frame, all);
  }

  /** Reads frames anew, with a reader that knows nothing but what is recalled of the frames before. */
  async #readFrom(from: number, to: number, recalled: Named = NOTHING): Promise<readonly ReadEntries<T>[]> {
    this.#reader = this.makeReader();
    this.#context = new Context(recalled);
    this.#from = from;
    for (const frame of await recallBefore(this.store, from, recalled, this.signal))
      await this.#reader.entriesOf(frame, frame.records);
    const read: ReadEntries<T>[] = [];
    for await (const { frame, all } of this.#decoded(from, to)) {
      this.signal?.throwIfAborted();
      const missing = this.#take(all);
      read.push({ seq: frame.seq, missing, entries: await this.#reader.entriesOf(frame, all) });
    }
    return read;
  }

  /** Frames with their records. Those that were decoded for a shorter stretch to the same end are decoded once. */
  async *#decoded(from: number, to: number): AsyncGenerator<DecodedFrame> {
    const known = this.#kept.at(-1)?.frame.seq === to ? this.#kept : [];
    const first = known[0]?.frame.seq ?? to + 1;
    const isKept = to + 1 - from <= KEPT_MAX;
    const read: DecodedFrame[] = [];
    for await (const { bytes, ...frame } of this.store.journal.read(from, first - 1)) {
      const decoded = { frame, all: readFrame(bytes, frame.seq).all };
      if (isKept) read.push(decoded);
      yield decoded;
    }
    for (const decoded of known) if (decoded.frame.seq >= from) yield decoded;
    this.#kept = isKept ? [...read, ...known] : [];
  }

  /** Takes the records of a frame. @returns what it says of the past that is not known */
  #take(records: readonly JournalRecord[]): Named {
    const missing = { effects: new Set<string>(), sessions: new Set<string>() };
    this.#context.take(records, missing);
    return missing;
  }
}

interface DecodedFrame {
  readonly frame: Omit<StoredFrame, 'bytes'>;
  readonly all: readonly JournalRecord[];
}

const NOTHING: Named = { effects: new Set(), sessions: new Set() };

interface ReadEntries<T> {
  readonly seq: number;
  /** What it says of frames before those that were read. */
  readonly missing: Named;
  readonly entries: readonly T[];
}

interface LastEntries<T> {
  readonly entries: readonly T[];
  /** The frames that they are of, and those behind them. */
  readonly frames: readonly ReadEntries<T>[];
}

/** The last entries that are meant. */
function lastOf<T>(read: readonly ReadEntries<T>[], most: number, isMeant: (entry: T) => boolean): LastEntries<T> {
  const meant = read.flatMap(({ seq, entries }) => entries.filter(isMeant).map((entry) => ({ seq, entry })));
  const kept = meant.slice(Math.max(meant.length - most, 0));
  const first = kept[0]?.seq ?? 0;
  return { entries: kept.map(({ entry }) => entry), frames: read.filter(({ seq }) => seq >= first) };
}

function missingIn({ frames }: { readonly frames: readonly { readonly missing: Named }[] }): Named {
  return {
    effects: new Set(frames.flatMap(({ missing }) => [...missing.effects])),
    sessions: new Set(frames.flatMap(({ missing }) => [...missing.sessions])),
  };
}

function isAny({ effects, sessions }: Named): boolean {
  return effects.size + sessions.size > 0;
}
