/**
 * Walks a folder in an order that depends on its names only: each folder's entries by the bytes of their names,
 * breadth first, so that a bound cuts off what lies deepest.
 */
import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { Anchor } from './anchor.js';
import type { Place } from './confine.js';
import { refusal, systemReason } from './confine.js';
import { fitsAny, isSecretPath, TEMPORARY_NAMES } from './names.js';

/** The most entries one walk looks at, listed or not: a bound on time, whatever the folder. */
export const WALK_ENTRIES_MAX = 50_000;

/** One thing found by a walk. */
export interface Entry {
  readonly type: 'file' | 'dir' | 'link' | 'other';
  /** Path from the workspace folder, with `/`. */
  readonly shown: string;
  /** Bytes of a file; 0 for everything else. */
  readonly size: number;
  /** Time of the last change of content, in whole milliseconds. */
  readonly mtimeMs: number;
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
 * @throws RepriseError `path_refused` when the folder itself cannot be read
 */
export async function* walk(from: Place, options: WalkOptions, notes: WalkNotes): AsyncGenerator<Entry> {
  let level: Place[] = [from];
  let seen = 0;
  for (let depth = 1; depth <= options.depth && level.length > 0; depth++) {
    const next: Place[] = [];
    for (const folder of level) {
      options.signal.throwIfAborted();
      for await (const entry of entriesOf(folder, notes, folder === from)) {
        seen += 1;
        if (seen > WALK_ENTRIES_MAX) {
          notes.complete = false;
          return;
        }
        yield entry.entry;
        if (entry.folder !== undefined) collect(entry.folder, next, options, notes);
      }
    }
    level = next;
  }
}

function collect(folder: Place, into: Place[], options: WalkOptions, notes: WalkNotes): void {
  if (fitsAny(folder.names.at(-1) ?? '', options.ignore)) notes.ignored += 1;
  else into.push(folder);
}

async function* entriesOf(folder: Place, notes: WalkNotes, isRoot: boolean) {
  const anchor = await Anchor.open(folder.real).catch((error: unknown) => {
    if (isRoot) throw refusal(folder.shown, systemReason(error));
    return undefined;
  });
  if (anchor === undefined) {
    notes.unreadable += 1;
    return;
  }
  try {
    for (const name of await sortedNames(anchor, notes)) {
      const found = await entryOf(anchor, folder, name, notes);
      if (found !== undefined) yield found;
    }
  } finally {
    await anchor.close();
  }
}

async function entryOf(anchor: Anchor, folder: Place, name: string, notes: WalkNotes) {
  const names = [...folder.names, name];
  if (isSecretPath(names)) notes.secret += 1;
  if (isSecretPath(names) || fitsAny(name, [TEMPORARY_NAMES])) return undefined;
  const stats = await lstat(anchor.path(name)).catch(() => undefined);
  if (stats === undefined) {
    notes.unreadable += 1;
    return undefined;
  }
  const entry = describe(stats, names.join('/'));
  const inner: Place = { real: path.join(folder.real, name), names, shown: entry.shown };
  return { entry, folder: entry.type === 'dir' ? inner : undefined };
}

function describe(stats: Stats, shown: string): Entry {
  const type = stats.isFile() ? 'file' : stats.isDirectory() ? 'dir' : stats.isSymbolicLink() ? 'link' : 'other';
  return { type, shown, size: type === 'file' ? stats.size : 0, mtimeMs: Math.floor(stats.mtimeMs) };
}

async function sortedNames(anchor: Anchor, notes: WalkNotes): Promise<string[]> {
  const names = await readdir(anchor.folder, { encoding: 'buffer' }).catch(() => undefined);
  if (names === undefined) notes.unreadable += 1;
  return (names ?? []).sort(Buffer.compare).flatMap((name) => decodeName(name, notes));
}

/** A name that is not UTF-8 has no text that opens it again, so it is counted instead of shown. */
function decodeName(name: Buffer, notes: WalkNotes): string[] {
  const text = name.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(name)) return [text];
  notes.unreadable += 1;
  return [];
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
  if (!notes.complete) parts.push(`stopped after ${WALK_ENTRIES_MAX} entries`);
  return parts;
}
