/** `reprise log`: the history of a world in words, one line for each thing that a person cares about. */

import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { HistoryEntry } from '@reprise/agent/history';
import { type JournalRecord, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { IdNames } from '@reprise/operators/names';
import { EntryReader, namedEntry, type PlacedEntry, RecentReader } from '@reprise/operators/story';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { wrapToColumns } from '../text/layout.js';
import { timeOf } from '../text/record-line.js';
import { framesOf } from '../world/frames.js';
import { withWorld } from '../world/open.js';

interface LogArguments {
  /** Only this session, by its key or the beginning of its key. */
  readonly session?: string;
  /** The first frame whose entries are printed. */
  readonly from?: number;
  /** The number of entries before the end to begin at. */
  readonly n?: number;
  readonly follow?: true;
  /** Prints every text in full, not its beginning. */
  readonly full?: true;
  readonly json?: true;
}

type Entry = PlacedEntry;

/** Prints the history of a world; with `follow`, until the user interrupts. */
export async function log(io: Io, world: string, options: LogArguments): Promise<void> {
  await withWorld(world, async (store) => {
    const session = await sessionNamed(store, options);
    const day = new Days();
    const ids = new IdNames(store);
    const print = async (entry: Entry) => {
      const { columns } = io.out;
      if (options.json === true) return io.out.write(`${asJson(entry)}\n`);
      const named = options.full === true ? entry : await namedEntry(entry, ids, reader.from);
      return io.out.write(
        columns === undefined ? `${asLine(named)}\n` : `${day.of(named)}${asFitted(named, columns)}\n`,
      );
    };
    const { seq: head } = await store.journal.head();
    const reader = new RecentReader(
      store,
      () =>
        new EntryReader(store.content, ids, {
          ...(session === undefined ? {} : { session }),
          full: options.full === true,
        }),
    );
    const isMeant = ({ seq }: Entry) => seq >= (options.from ?? 0);
    if (options.n !== undefined)
      for (const entry of (await reader.last(head, options.n)).filter(isMeant)) await print(entry);
    const follow = options.follow === true ? { follow: options.follow } : {};
    const from = options.n === undefined ? 0 : head + 1;
    if (options.n !== undefined && options.follow !== true) return;
    for await (const frame of framesOf(store, io, { from, path: world, ...follow })) {
      for (const entry of (await reader.entriesOf(frame)).filter(isMeant)) await print(entry);
      if (io.out.closed) return;
    }
  });
}

/** Prints the date before the first entry of a day: the lines of a terminal have only the time of day. */
class Days {
  #last = '';

  of({ at }: Entry): string {
    const [date = '', clock] = timeOf(at).split('T');
    if (clock === undefined || date === this.#last) return '';
    this.#last = date;
    return `${date} (UTC)\n`;
  }
}

const WHERE_WIDTH = 10;
const PLACE_WIDTH = 7;

/** One line for an entry, however long: to be found with grep. */
function asLine(entry: Entry): string {
  return lineOf(entry, timeOf(entry.at));
}

/** An entry for a terminal: the time of day only, and lines broken between words. */
function asFitted(entry: Entry, columns: number): string {
  const whole = timeOf(entry.at);
  const time = whole.split('T')[1]?.slice(0, '00:00:00'.length) ?? whole;
  return wrapToColumns(lineOf(entry, time), columns, PLACE_WIDTH + time.length + 2);
}

function lineOf({ seq, i, of }: Entry, time: string): string {
  const where = 'session' in of ? of.session : (of.cell ?? '(world)');
  return escapeLine(`${`${seq}.${i}`.padEnd(PLACE_WIDTH)} ${time} ${where.padEnd(WHERE_WIDTH)} ${of.words}`);
}

function asJson({ seq, i, at, of }: Entry): string {
  const { place: _, at: __, ...entry } = { place: '', ...of } as unknown as HistoryEntry;
  const where = 'session' in of ? { cell: null } : { session: null, run: null };
  return toJson({ place: `${seq}.${i}`, seq, i, at, time: timeOf(at), ...where, ...entry });
}

/**
 * The session that the user means.
 *
 * @throws RepriseError `invalid_argument` when no session, or several, have this key
 */
async function sessionNamed(store: ReadonlyStore, { session, follow }: LogArguments): Promise<string | undefined> {
  if (session === undefined) return undefined;
  const known = await sessionsLike(store, session);
  if (known.has(session)) return session;
  const [found, another] = known;
  if (found !== undefined && another === undefined) return found;
  if (found === undefined && follow === true) return session; // it may still be made
  throw new RepriseError(
    'invalid_argument',
    found === undefined ? 'no session has this key' : 'several sessions begin with this',
    {
      actual: session,
      expected: listed([...(found === undefined ? await sessionsLike(store, '') : known)].sort()),
      hint: 'Name a session by its key, or by a beginning of it that no other session has.',
    },
  );
}

/** The frames in which a session is looked for first: one that acts is there. */
const RECENT = 64;

/** The sessions whose keys begin so; the one that has exactly this key alone. */
async function sessionsLike(store: ReadonlyStore, beginning: string): Promise<ReadonlySet<string>> {
  const { seq } = await store.journal.head();
  const recent = new Set<string>();
  await addSessions(store, Math.max(seq - RECENT, 0), beginning, recent);
  if (recent.has(beginning)) return new Set([beginning]); // the snapshot need not be loaded
  const { snapshotBefore } = await import('@reprise/kernel/inspect');
  const snapshot = await snapshotBefore(store, seq);
  if ((await snapshot.cell([SESSION_REDUCER, beginning])) !== undefined) return new Set([beginning]);
  const known = new Set<string>();
  for await (const [reducer, key] of snapshot.addresses())
    if (reducer === SESSION_REDUCER && key.startsWith(beginning)) known.add(key);
  await addSessions(store, snapshot.seq + 1, beginning, known);
  if (known.size === 0) await addSessions(store, 0, beginning, known); // it may have ended
  return known;
}

/** Adds the sessions whose keys begin so and that frames name. The bytes of a frame hold a key as a text, so most are not decoded. */
async function addSessions(store: ReadonlyStore, from: number, beginning: string, known: Set<string>): Promise<void> {
  const text = Buffer.from(beginning);
  for await (const { bytes, seq } of store.journal.read(from)) {
    if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(text)) continue;
    for (const record of readFrame(bytes, seq).all) {
      const key = sessionOf(record);
      if (key?.startsWith(beginning) === true) known.add(key);
    }
  }
}

const LISTED_MAX = 10;

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none: the world has no session';
  const more = names.length - LISTED_MAX;
  return `one of ${names.slice(0, LISTED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function sessionOf(record: JournalRecord): string | undefined {
  if (record.kind !== 'request' && record.kind !== 'event') return undefined;
  return record.to[0] === SESSION_REDUCER ? record.to[1] : undefined;
}
