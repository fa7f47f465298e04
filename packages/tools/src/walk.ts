/**
 * Walks a folder in an order that depends on its names only: each folder's entries by the bytes of their names,
 * breadth first, so that a bound cuts off what lies deepest.
 */
import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Place } from './confine.js';
import { refusal, systemReason } from './confine.js';
import { fitsAny, isSecretPath, TEMPORARY_NAMES } from './names.js';

/** The most entries one walk looks at, listed or not: a bound on time, whatever the folder. */
export const WALK_ENTRIES_MAX = 50_000;

/** One thing found by a walk. */
export interface Entry {
  readonly type: 'file' | 'dir' | 'link' | 'other';
  /** Absolute path for whoever opens it. */
  readonly real: string;
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
  for (const { name } of await readSorted(folder, notes, isRoot)) {
    const names = [...folder.names, name];
    if (isSecretPath(names)) notes.secret += 1;
    if (isSecretPath(names) || fitsAny(name, [TEMPORARY_NAMES])) continue;
    const real = path.join(folder.real, name);
    const stats = await lstat(real).catch(() => undefined);
    if (stats === undefined) {
      notes.unreadable += 1;
      continue;
    }
    const entry = entryOf(stats, real, names.join('/'));
    yield { entry, folder: entry.type === 'dir' ? { real, names, shown: entry.shown } : undefined };
  }
}

function entryOf(stats: Stats, real: string, shown: string): Entry {
  const type = stats.isFile() ? 'file' : stats.isDirectory() ? 'dir' : stats.isSymbolicLink() ? 'link' : 'other';
  return { type, real, shown, size: type === 'file' ? stats.size : 0, mtimeMs: Math.floor(stats.mtimeMs) };
}

async function readSorted(folder: Place, notes: WalkNotes, isRoot: boolean): Promise<{ name: string }[]> {
  const entries = await readdir(folder.real, { withFileTypes: true, encoding: 'buffer' }).catch((error: unknown) => {
    if (isRoot) throw refusal(folder.shown, systemReason(error));
    notes.unreadable += 1;
    return [];
  });
  const sorted = (entries as Dirent<Buffer>[]).map(({ name }) => name).sort(Buffer.compare);
  return sorted.flatMap((name) => decodeName(name, notes));
}

/** A name that is not UTF-8 has no text that opens it again, so it is counted instead of shown. */
function decodeName(name: Buffer, notes: WalkNotes): { name: string }[] {
  const text = name.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(name)) return [{ name: text }];
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
