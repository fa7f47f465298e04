/** The entries of a world's story: those of its sessions, and those of the world and of its other cells, in the order of records. */
import { History, type HistoryEntry, TEXT_BOUNDS } from '@reprise/agent/history';
import type { JournalRecord } from '@reprise/contracts';
import type { ContentReader, StoredFrame } from '@reprise/kernel';
import type { IdNames } from '../names/id-names.js';
import type { FrameReader } from './recent.js';
import { type WorldEntry, WorldHistory } from './world-words.js';

/** An entry, and where it stands in the journal. */
export interface PlacedEntry {
  readonly seq: number;
  /** The index of its record. */
  readonly i: number;
  readonly at: number;
  readonly of: HistoryEntry | WorldEntry;
  /** The effect that the entry is about, or that it follows from. */
  readonly effect: string | null;
}

interface EntryOptions {
  /** The key of the one session that is meant; all when absent. */
  readonly session?: string;
  /** Includes every text in full, not its beginning. */
  readonly full: boolean;
}

/** Reads the entries of frames, of one session or of all. */
export class EntryReader implements FrameReader<PlacedEntry> {
  readonly #sessions: History;
  readonly #world: WorldHistory;
  readonly #session: string | undefined;

  /** @param ids takes the records, for the names in them */
  constructor(
    content: ContentReader,
    private readonly ids: IdNames,
    { session, full }: EntryOptions,
  ) {
    const all = Number.MAX_SAFE_INTEGER;
    const bounds = full ? { said: all, data: all } : TEXT_BOUNDS;
    this.#session = session;
    this.#sessions = new History(content, {
      bounds,
      ...(session === undefined ? {} : { isMeant: (key: string) => key === session }),
    });
    this.#world = new WorldHistory(bounds.data);
  }

  /** The entries of the next frame. */
  async entriesOf(
    { seq, head, at }: Omit<StoredFrame, 'bytes'>,
    all: readonly JournalRecord[],
  ): Promise<PlacedEntry[]> {
    const base = { seq, at };
    this.ids.take(all);
    const own = await this.#sessions.entriesOf({ ...base, head, records: all });
    const entries = own.map((of): PlacedEntry => {
      const i = Number(of.place.split('.')[1]);
      return { ...base, i, of, effect: effectOf(all, i) };
    });
    if (this.#session !== undefined) return entries;
    const told = new Set(entries.map(({ i }) => i));
    for (const of of this.#world.entriesOf(all, (i) => told.has(i)))
      entries.push({ ...base, i: of.i, of, effect: effectOf(all, of.i) });
    return entries.sort((a, b) => a.i - b.i);
  }
}

/** The effect of a record: its own, or the settled one that led to it in the same frame. */
function effectOf(records: readonly JournalRecord[], i: number): string | null {
  for (let at = i; ; ) {
    const record = records[at];
    if (record === undefined) return null;
    if ('effect' in record && typeof record.effect === 'string') return record.effect;
    if (!('c' in record) || record.c >= at) return null;
    at = record.c;
  }
}

/** An entry for people: names in place of ids. @param read the first frame that was read */
export async function namedEntry(entry: PlacedEntry, ids: IdNames, read: number): Promise<PlacedEntry> {
  const { of } = entry;
  const words = await ids.words(of.words, read);
  if ('session' in of) return { ...entry, of: { ...of, words, session: await ids.words(of.session, read) } };
  return { ...entry, of: { ...of, words, cell: of.cell === null ? null : await ids.words(of.cell, read) } };
}
