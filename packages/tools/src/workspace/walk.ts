/**
 * Walks a folder in an order that depends on names only: each folder's entries by the bytes of their names,
 * breadth first, so that a bound cuts off the deepest entries.
 *
 * Invariants
 * W1  Each entry costs only its line in the folder's listing, which holds its type. Only shown entries are examined
 *     further.
 * W2  System calls run one by one, in slices: the event loop waits at most one slice, and a stopped walk ends within
 *     one.
 * W3  Entries that were left out are counted, or the notes say that the walk is incomplete.
 */
import { type Dir, type Dirent, opendirSync, type Stats } from 'node:fs';
import path from 'node:path';
import { Slices } from '../slices.js';
import { Anchor } from './anchor.js';
import type { Place } from './confine.js';
import { refusal, systemReason } from './confine.js';
import { fitsAny, TEMPORARY_NAME } from './names.js';
import { secretsIn } from './secret-names.js';

/** The most entries that one walk examines, listed or not: a bound on time, whatever the folder. */
export const WALK_ENTRIES_MAX = 200_000;

/** The most names of one folder in memory, for sorting. */
const FOLDER_NAMES_MAX = 1_000_000;

/** How many names are fetched from the system at once. */
const NAMES_AT_ONCE = 512;

/** An entry found by a walk; its methods may be called until the walk continues. */
export interface Entry {
  readonly type: 'file' | 'dir' | 'link' | 'other';
  /** Path from the workspace folder, with `/`. */
  readonly shown: string;
  /** Its name in its folder. */
  readonly name: string;
  /** Size and times; undefined when it no longer exists. */
  stats(): Stats | undefined;
  /** Reads its bytes, if it is a regular file within the bound. */
  read(bytesMax: number): Uint8Array | 'large' | 'unreadable';
}

/** What a walk skipped, and whether it saw everything. */
export interface WalkNotes {
  secret: number;
  /** Entries that could not be read, or whose names are not UTF-8. */
  unreadable: number;
  /** Folders that were listed but not entered because of their name. */
  ignored: number;
  complete: boolean;
}

/** Options of a walk. */
interface WalkOptions {
  /** The number of levels: 1 means the folder's own entries. */
  readonly depth: number;
  /** Name patterns of folders that are shown but not entered. */
  readonly ignore: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Yields the entries of a folder. A symbolic link is shown as a link and never followed, so there are no cycles.
 *
 * @param from a folder, already confined
 * @param notes filled during the walk
 * @throws RepriseError `path_refused` when the folder itself cannot be read; the reason of the signal when it aborts
 */
export async function* walk(from: Place, options: WalkOptions, notes: WalkNotes): AsyncGenerator<Entry> {
  const slices = new Slices(options.signal);
  let level: Place[] = [from];
  let seen = 0;
  for (let depth = 1; depth <= options.depth && level.length > 0; depth++) {
    const next: Place[] = [];
    for (const folder of level) {
      for await (const found of entriesOf(folder, notes, folder === from, slices)) {
        seen += 1;
        if (seen > WALK_ENTRIES_MAX) {
          notes.complete = false; // W3
          return;
        }
        yield found;
        if (found.type === 'dir') collect(folder, found, next, options, notes);
      }
    }
    level = next;
  }
}

function collect(folder: Place, { name, shown }: Entry, into: Place[], options: WalkOptions, notes: WalkNotes): void {
  if (fitsAny(name, options.ignore)) notes.ignored += 1;
  else into.push({ real: path.join(folder.real, name), names: [...folder.names, name], shown });
}

async function* entriesOf(folder: Place, notes: WalkNotes, isRoot: boolean, slices: Slices): AsyncGenerator<Entry> {
  await slices.next();
  const anchor = anchorOf(folder, isRoot);
  if (anchor === undefined) {
    notes.unreadable += 1;
    return;
  }
  const isSecret = secretsIn(folder.names);
  const above = folder.names.length === 0 ? '' : `${folder.shown}/`;
  try {
    for (const { name, type } of await sortedEntries(anchor, notes, slices)) {
      if (slices.due) await slices.next();
      if (isSecret(name, type === 'dir' ? 'folder' : 'file')) notes.secret += 1;
      else if (!TEMPORARY_NAME.test(name)) {
        const stats = () => anchor.stats(name);
        const read = (bytesMax: number) => anchor.read(name, bytesMax);
        yield { type, name, shown: `${above}${name}`, stats, read };
      }
    }
  } finally {
    anchor.close();
  }
}

function anchorOf(folder: Place, isRoot: boolean): Anchor | undefined {
  try {
    return Anchor.open(folder.real);
  } catch (error) {
    if (isRoot) throw refusal(folder.shown, systemReason(error));
    return undefined;
  }
}

type Named = Pick<Entry, 'name' | 'type'>;

async function sortedEntries(anchor: Anchor, notes: WalkNotes, slices: Slices): Promise<Named[]> {
  const found = await listed(anchor, notes, slices);
  // In Latin-1 each character is a byte, so this is the order of the bytes.
  found.sort((a, b) => (a.name < b.name ? -1 : 1));
  return found.flatMap((entry) => decoded(entry, anchor, notes));
}

async function listed(anchor: Anchor, notes: WalkNotes, slices: Slices): Promise<Dirent[]> {
  const found: Dirent[] = [];
  let dir: Dir | undefined;
  try {
    dir = opendirSync(anchor.folder, { encoding: 'latin1', bufferSize: NAMES_AT_ONCE });
    for (let next = dir.readSync(); next !== null; next = dir.readSync()) {
      if (found.length >= FOLDER_NAMES_MAX) {
        notes.complete = false; // W3
        break;
      }
      found.push(next);
      if (slices.due) await slices.next(); // W2
    }
  } catch (error) {
    slices.signal.throwIfAborted();
    if ((error as { code?: unknown } | null)?.code === undefined) throw error;
    notes.unreadable += 1;
  } finally {
    dir?.closeSync();
  }
  return found;
}

/**
 * Decodes a name. A name that is not UTF-8 has no text that opens the file again, so it is counted instead of shown.
 */
function decoded(entry: Dirent, anchor: Anchor, notes: WalkNotes): Named[] {
  const name = utf8Of(entry.name);
  const type = name === undefined ? undefined : typeOf(entry, name, anchor);
  if (name !== undefined && type !== undefined) return [{ name, type }];
  notes.unreadable += 1;
  return [];
}

function utf8Of(latin1: string): string | undefined {
  if (/^[\0-\x7f]*$/.test(latin1)) return latin1;
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return Buffer.from(text, 'utf8').toString('latin1') === latin1 ? text : undefined;
}

/** The type of an entry; some file systems do not include it in a listing. */
function typeOf(entry: Dirent, name: string, anchor: Anchor): Entry['type'] | undefined {
  const known = entry.isFile() || entry.isDirectory() || entry.isSymbolicLink() || isSpecial(entry);
  const told = known ? entry : anchor.stats(name);
  if (told === undefined) return undefined;
  return told.isFile() ? 'file' : told.isDirectory() ? 'dir' : told.isSymbolicLink() ? 'link' : 'other';
}

function isSpecial(entry: Dirent): boolean {
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice();
}

/** Makes empty notes. */
export function newNotes(): WalkNotes {
  return { secret: 0, unreadable: 0, ignored: 0, complete: true };
}

/** What a walk skipped, as parts of one sentence for the model; empty when it saw everything. */
export function describeNotes(notes: WalkNotes): string[] {
  const parts: string[] = [];
  if (notes.secret > 0) parts.push(`${notes.secret} secret-like not shown`);
  if (notes.ignored > 0) parts.push(`${notes.ignored} ignored folders not entered`);
  if (notes.unreadable > 0) parts.push(`${notes.unreadable} unreadable`);
  if (!notes.complete) parts.push(`stopped after ${WALK_ENTRIES_MAX} entries, there are more`);
  return parts;
}
