/**
 * Walks a folder in an order that depends on its names only: each folder's entries by the bytes of their names,
 * breadth first, so that a bound cuts off what lies deepest.
 *
 * Invariants
 * W1  Each entry costs one look at its folder's list: what it is stands there. Only what is shown is asked for more.
 * W2  System calls are made one by one, in slices: whoever waits for the event loop waits for a slice, and a walk that is
 *     told to stop stops within one.
 * W3  What was left out is counted, or it is said that there is more.
 */
import { type Dir, type Dirent, opendirSync, type Stats } from 'node:fs';
import path from 'node:path';
import { Slices } from '../slices.js';
import { Anchor } from './anchor.js';
import type { Place } from './confine.js';
import { refusal, systemReason } from './confine.js';
import { fitsAny, TEMPORARY_NAME } from './names.js';
import { secretsIn } from './secret-names.js';

/** The most entries one walk looks at, listed or not: a bound on time, whatever the folder. */
export const WALK_ENTRIES_MAX = 200_000;

/** The most names of one folder that are held in memory, to sort them. */
const FOLDER_NAMES_MAX = 1_000_000;

/** How many names are fetched from the system at once. */
const NAMES_AT_ONCE = 512;

/** One thing found by a walk; its methods may be called until the walk goes on. */
export interface Entry {
  readonly type: 'file' | 'dir' | 'link' | 'other';
  /** Path from the workspace folder, with `/`. */
  readonly shown: string;
  /** Its name in its folder. */
  readonly name: string;
  /** Size and times; undefined when it is gone. */
  stats(): Stats | undefined;
  /** Its bytes, if it is a regular file of at most so many. */
  read(bytesMax: number): Uint8Array | 'large' | 'unreadable';
}

/** What a walk passed over, and whether it saw everything. */
export interface WalkNotes {
  secret: number;
  /** Entries that could not be read, or whose names are not UTF-8. */
  unreadable: number;
  /** Folders that were seen and not entered because of their name. */
  ignored: number;
  complete: boolean;
}

/** How to walk. */
export interface WalkOptions {
  /** How many levels: 1 is the folder's own entries. */
  readonly depth: number;
  /** Name patterns of folders that are shown but not entered. */
  readonly ignore: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * The entries of a folder. A symbolic link is shown as one and never followed, so there are no circles.
 *
 * @param from a folder, already confined
 * @param notes filled while walking
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
  // As Latin-1 a character is a byte, so this is the order of the bytes.
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

/** A name that is not UTF-8 has no text that opens it again, so it is counted instead of shown. */
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

/** Some file systems do not say in a list what an entry is. */
function typeOf(entry: Dirent, name: string, anchor: Anchor): Entry['type'] | undefined {
  const known = entry.isFile() || entry.isDirectory() || entry.isSymbolicLink() || isSpecial(entry);
  const told = known ? entry : anchor.stats(name);
  if (told === undefined) return undefined;
  return told.isFile() ? 'file' : told.isDirectory() ? 'dir' : told.isSymbolicLink() ? 'link' : 'other';
}

function isSpecial(entry: Dirent): boolean {
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice();
}

/** Starts the notes of a walk. */
export function newNotes(): WalkNotes {
  return { secret: 0, unreadable: 0, ignored: 0, complete: true };
}

/** What a walk passed over, as parts of one sentence for the model; empty when it saw everything. */
export function describeNotes(notes: WalkNotes): string[] {
  const parts: string[] = [];
  if (notes.secret > 0) parts.push(`${notes.secret} secret-like not shown`);
  if (notes.ignored > 0) parts.push(`${notes.ignored} ignored folders not entered`);
  if (notes.unreadable > 0) parts.push(`${notes.unreadable} unreadable`);
  if (!notes.complete) parts.push(`stopped after ${WALK_ENTRIES_MAX} entries, there are more`);
  return parts;
}
