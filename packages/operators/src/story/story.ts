/** What happened in a world, in words, from the end of its journal back. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, aText, type OptionKind, parseAddress, RepriseError, wholeFrom } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { IdNames } from '../names/id-names.js';
import type { WorldNames } from '../names/world-names.js';
import { frameOf } from '../page/frames.js';
import { AT_OPTIONS, requireQuestion } from '../page/require.js';
import { EntryReader, type PlacedEntry } from './entries.js';
import { RecentReader } from './recent.js';
import type { StoryEntry, StoryReport } from './report.js';

/** Which part of a story is wanted. */
export interface StoryOfOptions {
  /** The key of the one session that is meant; all when absent. */
  readonly session?: string;
  /** The last frame that counts; the newest one when absent. */
  readonly at?: number;
  /** The entries before this place: `before` of the answer behind it. */
  readonly before?: string;
  /** The most entries; 200 when absent. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

const KNOWN: Readonly<Record<keyof StoryOfOptions, true | OptionKind>> = {
  ...AT_OPTIONS,
  ...{ session: aText, before: aText, limit: wholeFrom(1) },
};

const LIMIT_DEFAULT = 200;

/**
 * Reads the last entries of a story: what `reprise log` prints, with the texts of others whole and names in place of ids. It
 * reads the end of the journal, and further back only where an entry there names something older.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame or place; `cell_absent` when no session up to the frame has the key
 * @example const { entries } = await storyOf(await sqlite('world.db').openReadonly(), { limit: 20 })
 */
export async function storyOf(store: ReadonlyStore, options: StoryOfOptions = {}): Promise<StoryReport> {
  requireQuestion('storyOf', store, options, KNOWN);
  const { session, at, before, limit = LIMIT_DEFAULT, signal } = options;
  const frame = await frameOf(store, at);
  const end = before === undefined ? undefined : placeIn(before, frame);
  const ids = new IdNames(store);
  const how = { full: true, ...(session === undefined ? {} : { session }) };
  const reader = new RecentReader(store, () => new EntryReader(store.content, ids, how), signal);
  const isMeant = ({ seq, i }: PlacedEntry) => end === undefined || seq < end.seq || (seq === end.seq && i < end.i);
  // One more than is wanted says whether there is anything earlier.
  const found = await reader.last(end?.seq ?? frame, limit + 1, isMeant);
  if (session !== undefined && found.length === 0 && end === undefined) throw noSession(session);
  const kept = found.slice(Math.max(found.length - limit, 0));
  // Loaded where it is needed: the command prints a story without it.
  const { namesAt } = await import('../names/names-at.js');
  const names = await namesAt(store, frame, signal);
  const entries: StoryEntry[] = [];
  for (const entry of kept) entries.push(await shown(entry, { names, ids, read: reader.from }));
  const earlier = found.length > kept.length ? (entries[0]?.place ?? null) : null;
  return { frame, session: session ?? null, entries, before: earlier };
}

interface Naming {
  readonly names: WorldNames;
  readonly ids: IdNames;
  /** The first frame that was read. */
  readonly read: number;
}

async function shown({ seq, i, at, of, effect }: PlacedEntry, { names, ids, read }: Naming): Promise<StoryEntry> {
  const cell = cellOf(of);
  const isOfSession = 'session' in of;
  return {
    ...{ place: `${seq}.${i}`, frame: seq, at, kind: of.kind, effect },
    of: cell === null ? null : names.ownerOf(cell),
    by: of.by === null ? null : await ids.words(of.by, read),
    words: await ids.words(of.words, read),
    run: isOfSession ? of.run : null,
    tool: isOfSession ? (of.tool ?? null) : null,
    call_id: isOfSession ? (of.call_id ?? null) : null,
  };
}

function cellOf(of: PlacedEntry['of']): Address | null {
  if ('session' in of) return [SESSION_REDUCER, of.session];
  if (of.cell === null) return null;
  const [reducer, key] = parseAddress(of.cell);
  return [reducer, key];
}

const PLACE = /^(\d{1,15})\.(\d{1,15})$/;

function placeIn(before: string, last: number): { readonly seq: number; readonly i: number } {
  const [, seq, i] = PLACE.exec(before) ?? [];
  if (seq !== undefined && i !== undefined && Number(seq) <= last) return { seq: Number(seq), i: Number(i) };
  throw new RepriseError('invalid_argument', 'there is no such place before the frame', {
    where: 'before',
    expected: 'the `before` of the answer behind it, such as 12.3',
    actual: before,
  });
}

function noSession(session: string): RepriseError {
  return new RepriseError('cell_absent', 'no session has this key', {
    where: 'session',
    actual: session,
    hint: 'Choose a later frame, or another key: reprise log prints the keys of sessions.',
  });
}
