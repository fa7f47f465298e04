import { assertMark } from '../../ports/views/mark.js';
import type { OpenViewStore, ViewCommit, ViewEntry, ViewMark, ViewRange, ViewStore } from '../../ports/views/port.js';
import { compareBytes } from '../../pure/codec/index.js';

/** Views in memory: rebuilt from the journal by every process. */
export function memoryViews(): ViewStore {
  const kept = new Map<string, Kept>();
  return { label: 'memory', open: async () => openMemoryViews(kept) };
}

interface Kept {
  mark: ViewMark;
  entries: Map<string, KeptEntry>;
  /** The entries in order, except those added since the last sort. */
  sorted: KeptEntry[];
  /** Entries that are not sorted in yet: they are when a reader asks. */
  added: KeptEntry[];
}

interface KeptEntry {
  readonly key: Uint8Array;
  value: Uint8Array;
}

function openMemoryViews(kept: Map<string, Kept>): OpenViewStore {
  return {
    mark: async (view) => kept.get(view)?.mark ?? null,
    get: async (view, key) => {
      const found = kept.get(view)?.entries.get(binaryText(key));
      return found && new Uint8Array(found.value);
    },
    scan: async (view, range) => {
      const one = kept.get(view);
      return one === undefined ? [] : inRange(sortedEntries(one), range).map(copyEntry);
    },
    commit: async (commits) => {
      for (const { view, expected } of commits) assertMark(view, kept.get(view)?.mark ?? null, expected);
      for (const commit of commits) apply(kept, commit);
    },
    close: async () => {},
  };
}

function apply(kept: Map<string, Kept>, { view, clear, changes, mark }: ViewCommit): void {
  const standing = clear ? undefined : kept.get(view);
  const one: Kept = standing ?? { mark, entries: new Map(), sorted: [], added: [] };
  one.mark = { ...mark };
  const removed = new Set<KeptEntry>();
  for (const [key, value] of changes) {
    const id = binaryText(key);
    const old = one.entries.get(id);
    if (value === null) {
      if (old !== undefined) removed.add(old);
      one.entries.delete(id);
    } else if (old !== undefined) old.value = new Uint8Array(value);
    else {
      const entry = { key: new Uint8Array(key), value: new Uint8Array(value) };
      one.entries.set(id, entry);
      one.added.push(entry);
    }
  }
  if (removed.size > 0) {
    one.sorted = one.sorted.filter((entry) => !removed.has(entry));
    one.added = one.added.filter((entry) => !removed.has(entry));
  }
  kept.set(view, one);
}

function sortedEntries(one: Kept): readonly KeptEntry[] {
  if (one.added.length > 0) {
    one.sorted = mergedInto(
      one.sorted,
      one.added.sort((a, b) => compareBytes(a.key, b.key)),
    );
    one.added = [];
  }
  return one.sorted;
}

/** Entries in order, those of two ordered lists: a few added ones cost no comparison of all the others. */
function mergedInto(sorted: readonly KeptEntry[], added: readonly KeptEntry[]): KeptEntry[] {
  const merged: KeptEntry[] = [];
  let done = 0;
  for (const entry of added) {
    const place = firstFrom(sorted, entry.key, done);
    for (; done < place; done++) merged.push(sorted[done] as KeptEntry);
    merged.push(entry);
  }
  for (; done < sorted.length; done++) merged.push(sorted[done] as KeptEntry);
  return merged;
}

function inRange(sorted: readonly KeptEntry[], { from, to, limit, reverse = false }: ViewRange): KeptEntry[] {
  const begin = firstFrom(sorted, from);
  const end = to === null ? sorted.length : Math.max(begin, firstFrom(sorted, to));
  if (reverse) return sorted.slice(Math.max(begin, end - limit), end).reverse();
  return sorted.slice(begin, Math.min(end, begin + limit));
}

/** The index of the first entry at or after a key, from an index on. */
function firstFrom(sorted: readonly KeptEntry[], key: Uint8Array, from = 0): number {
  let low = from;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes((sorted[middle] as KeptEntry).key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function copyEntry({ key, value }: KeptEntry): ViewEntry {
  return [new Uint8Array(key), new Uint8Array(value)];
}

/** Bytes as the key of a `Map`: one character a byte. */
export function binaryText(bytes: Uint8Array): string {
  return String.fromCharCode.apply(null, bytes as unknown as number[]);
}
