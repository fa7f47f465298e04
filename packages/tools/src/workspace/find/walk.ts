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
import type { Stats } from 'node:fs';
import path from 'node:path';
import { Slices } from '../../slices/slices.js';
import { Anchor } from '../folder/anchor.js';
import type { Place } from '../folder/confine.js';
import { refusal, systemReason } from '../folder/confine.js';
import { anyNamePattern, TEMPORARY_NAME } from '../folder/names.js';
import { secretsIn } from '../folder/secret-names.js';
import { type EntryType, entriesIn } from './folder-entries.js';

/** The most entries that one walk examines, listed or not: a bound on time, whatever the folder. */
export const WALK_ENTRIES_MAX = 200_000;

/** The most levels of folders that one walk enters. */
export const WALK_DEPTH_MAX = 32;

/** How many entries are yielded at once: yielding each would take longer than finding it. */
const ENTRIES_AT_ONCE = 256;

/** An entry found by a walk; it may be examined until the walk continues. */
export class Entry {
  constructor(
    readonly type: EntryType,
    /** Its name in its folder. */
    readonly name: string,
    /** Names of its folder, from the workspace folder. */
    readonly folder: readonly string[],
    private readonly above: string,
    private readonly anchor: Anchor,
  ) {}

  /** Path from the workspace folder, with `/`. */
  get shown(): string {
    return this.above + this.name;
  }

  /** Size and times; undefined when it no longer exists. */
  stats(): Stats | undefined {
    return this.anchor.stats(this.name);
  }

  /** Reads its bytes, if it is a regular file within the bound. */
  read(bytesMax: number): Uint8Array | 'large' | 'unreadable' {
    return this.anchor.read(this.name, bytesMax);
  }
}

/** What a walk skipped, and whether it saw everything. */
export interface WalkNotes {
  secret: number;
  /** Entries that could not be read, or whose names are not UTF-8. */
  unreadable: number;
  /** Folders that were listed but not entered because of their name. */
  ignored: number;
  /** Folders that were listed but not entered because they are too deep. */
  deep: number;
  complete: boolean;
}

interface WalkOptions {
  /** The number of levels that were asked for: 1 means the folder's own entries. Without it all, within the bound. */
  readonly depth?: number;
  /** Name patterns of folders that are shown but not entered. */
  readonly ignore: readonly string[];
  /** Whether anything in a folder can be of interest; a folder that holds nothing of interest is not entered. */
  readonly enters?: (folder: readonly string[]) => boolean;
  readonly signal: AbortSignal;
}

/**
 * Yields the entries of a folder, some at a time. A symbolic link is shown as a link and never followed, so there are
 * no cycles.
 *
 * @param from a folder, already confined
 * @param notes filled during the walk
 * @throws RepriseError `path_refused` when the folder itself cannot be read; the reason of the signal when it aborts
 */
export async function* walk(from: Place, options: WalkOptions, notes: WalkNotes): AsyncGenerator<readonly Entry[]> {
  const slices = new Slices(options.signal);
  const isIgnored = anyNamePattern(options.ignore);
  const collect = (folder: Place, { name, shown }: Entry, into: Place[]): void => {
    const names = [...folder.names, name];
    if (options.enters?.(names) === false) return;
    if (isIgnored(name)) notes.ignored += 1;
    else into.push({ real: path.join(folder.real, name), names, shown });
  };
  const depthMax = Math.min(options.depth ?? WALK_DEPTH_MAX, WALK_DEPTH_MAX);
  let level: Place[] = [from];
  let left = WALK_ENTRIES_MAX;
  for (let depth = 1; depth <= depthMax && level.length > 0; depth++) {
    const next: Place[] = [];
    for (const folder of level) {
      for await (const found of entriesOf(folder, notes, folder === from, slices)) {
        yield found.length > left ? found.slice(0, left) : found;
        left -= found.length;
        if (left < 0) {
          notes.complete = false; // W3
          return;
        }
        for (const entry of found) if (entry.type === 'dir') collect(folder, entry, next);
      }
    }
    level = next;
  }
  if (options.depth === undefined) notes.deep += level.length; // W3
}

async function* entriesOf(
  folder: Place,
  notes: WalkNotes,
  isRoot: boolean,
  slices: Slices,
): AsyncGenerator<readonly Entry[]> {
  await slices.next();
  const anchor = anchorOf(folder, isRoot);
  if (anchor === undefined) {
    notes.unreadable += 1;
    return;
  }
  const isSecret = secretsIn(folder.names);
  const above = folder.names.length === 0 ? '' : `${folder.shown}/`;
  try {
    const { entries, unreadable, isCut } = await entriesIn(anchor, slices);
    notes.unreadable += unreadable;
    if (isCut) notes.complete = false; // W3
    let found: Entry[] = [];
    for (const { name, type } of entries) {
      if (isSecret(name, type === 'dir' ? 'folder' : 'file')) notes.secret += 1;
      else if (!TEMPORARY_NAME.test(name)) found.push(new Entry(type, name, folder.names, above, anchor));
      if (found.length < ENTRIES_AT_ONCE) continue;
      yield found;
      found = [];
      await slices.next(); // W2
    }
    if (found.length > 0) yield found;
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

export function newNotes(): WalkNotes {
  return { secret: 0, unreadable: 0, ignored: 0, deep: 0, complete: true };
}

/** What a walk skipped, as parts of one sentence for the model; empty when it saw everything. */
export function describeNotes(notes: WalkNotes): string[] {
  const parts: string[] = [];
  if (notes.secret > 0) parts.push(`${notes.secret} secret-like not shown`);
  if (notes.ignored > 0) parts.push(`${notes.ignored} ignored folders not entered`);
  if (notes.deep > 0) parts.push(`${notes.deep} folders below level ${WALK_DEPTH_MAX} not entered`);
  if (notes.unreadable > 0) parts.push(`${notes.unreadable} unreadable`);
  if (!notes.complete) parts.push(`stopped after ${WALK_ENTRIES_MAX} entries, there are more`);
  return parts;
}

/** A count of what a walk found, with `at least` when the walk did not see everything. */
export function counted(count: number, isLeast: boolean): string {
  return isLeast ? `at least ${count}` : String(count);
}
