/**
 * Reads the entries of one folder, in the order of the bytes of their names.
 *
 * Invariants
 * E1  Reading and sorting run in slices: a folder of a million entries stops as quickly as a small one.
 * E2  An entry costs its line in the folder's listing, which holds its type, and nothing more.
 */
import { type Dir, type Dirent, opendirSync } from 'node:fs';
import type { Slices } from '../../slices/slices.js';
import type { Anchor } from '../folder/anchor.js';

/** The type of an entry. A link is shown as a link and never followed. */
export type EntryType = 'file' | 'dir' | 'link' | 'other';

/** A name with its type. */
interface Named {
  readonly name: string;
  readonly type: EntryType;
}

/** The entries of a folder. */
interface FolderEntries {
  readonly entries: readonly Named[];
  /** Entries that could not be read, or whose names are not UTF-8: no text opens such a file again. */
  readonly unreadable: number;
  /** Whether there were more names than are sorted. */
  readonly isCut: boolean;
}

/** The most names of one folder in memory, for sorting. */
const FOLDER_NAMES_MAX = 1_000_000;

/** How many names are fetched from the system at once: more takes longer for each, since they are taken one by one. */
const NAMES_AT_ONCE = 64;

/** How many names are sorted at once, some milliseconds of work. */
const SORTED_AT_ONCE = 8_192;

/**
 * A name in Latin-1, a NUL, and the letter of its type. In Latin-1 each character is a byte, so the order of such
 * texts is the order of the bytes; no name holds a NUL, which comes before every other character.
 */
type Line = string;

const TYPES: Readonly<Record<string, EntryType>> = { f: 'file', d: 'dir', l: 'link', o: 'other' };

/**
 * Reads the entries of an open folder.
 *
 * @throws the reason of the signal when it aborts
 */
export async function entriesIn(anchor: Anchor, slices: Slices): Promise<FolderEntries> {
  const { lines, isCut, failed } = await listed(anchor, slices);
  const entries: Named[] = [];
  for (const line of await sorted(lines, slices)) {
    const named = namedIn(line, anchor);
    if (named !== undefined) entries.push(named);
    if (slices.due) await slices.next();
  }
  return { entries, unreadable: lines.length - entries.length + failed, isCut };
}

async function listed(anchor: Anchor, slices: Slices): Promise<{ lines: Line[]; isCut: boolean; failed: number }> {
  const lines: Line[] = [];
  let dir: Dir | undefined;
  try {
    dir = opendirSync(anchor.folder, { encoding: 'latin1', bufferSize: NAMES_AT_ONCE });
    for (let next = dir.readSync(); next !== null; next = dir.readSync()) {
      if (lines.length >= FOLDER_NAMES_MAX) return { lines, isCut: true, failed: 0 };
      lines.push(`${next.name}\0${letterOf(next)}`);
      if (slices.due) await slices.next(); // E1
    }
    return { lines, isCut: false, failed: 0 };
  } catch (error) {
    slices.signal.throwIfAborted();
    if ((error as { code?: unknown } | null)?.code === undefined) throw error;
    return { lines, isCut: false, failed: 1 };
  } finally {
    dir?.closeSync();
  }
}

/** The letter of a type; `?` when the file system does not include it in a listing. */
function letterOf(entry: Dirent): string {
  if (entry.isFile()) return 'f';
  if (entry.isDirectory()) return 'd';
  if (entry.isSymbolicLink()) return 'l';
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice() ? 'o' : '?';
}

/** Sorts in pieces, and merges the pieces. */
async function sorted(lines: Line[], slices: Slices): Promise<readonly Line[]> {
  let runs: Line[][] = [];
  for (let at = 0; at < lines.length; at += SORTED_AT_ONCE) {
    runs.push(lines.slice(at, at + SORTED_AT_ONCE).sort());
    await slices.next(); // E1
  }
  while (runs.length > 1) {
    const merged: Line[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], slices));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge(left: Line[], right: Line[], slices: Slices): Promise<Line[]> {
  if (right.length === 0) return left;
  const out: Line[] = [];
  let at = 0;
  for (const line of left) {
    for (let other = right[at]; other !== undefined && other < line; other = right[at]) {
      out.push(other);
      at += 1;
    }
    out.push(line);
    if (slices.due) await slices.next(); // E1
  }
  for (; at < right.length; at++) out.push(right[at] as Line);
  return out;
}

function namedIn(line: Line, anchor: Anchor): Named | undefined {
  const name = utf8Of(line.slice(0, -2));
  if (name === undefined) return undefined;
  const type = TYPES[line.charAt(line.length - 1)] ?? typeOf(name, anchor);
  return type === undefined ? undefined : { name, type };
}

function utf8Of(latin1: string): string | undefined {
  if (/^[\0-\x7f]*$/.test(latin1)) return latin1;
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return Buffer.from(text, 'utf8').toString('latin1') === latin1 ? text : undefined;
}

function typeOf(name: string, anchor: Anchor): EntryType | undefined {
  const stats = anchor.stats(name);
  if (stats === undefined) return undefined;
  return stats.isFile() ? 'file' : stats.isDirectory() ? 'dir' : stats.isSymbolicLink() ? 'link' : 'other';
}
