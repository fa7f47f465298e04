import { Ref, RepriseError } from '@reprise/contracts';
import { type Hash, portableSha256 } from '../codec/hash.js';
import { toHex } from '../codec/hex.js';
import type { ContentReader, ContentStore } from '../content/port.js';
import { assertConsecutive, assertHead } from '../journal/append-checks.js';
import { EMPTY_HEAD, type Head, type Journal, type StoredFrame } from '../journal/port.js';
import type { OpenStore, ReadonlyStore, Store } from './store.js';

/** What can be chosen about a memory store. */
export interface MemoryOptions {
  /** The sha-256 that names blobs and that the store offers to the world; the portable one when absent. */
  readonly hash?: Hash;
}

/** What outlives one opening. */
interface Kept {
  readonly frames: StoredFrame[];
  readonly blobs: Map<string, Uint8Array>;
  mark: string | null;
  clean: boolean;
  held: boolean;
  exists: boolean;
}

/**
 * A store in this process's memory: gone with the process, otherwise as strict as a store on disk. What is put
 * and never followed by an append is dropped at close, and nothing it gives or takes is shared with a caller.
 *
 * @example
 * const store = memory();
 * const first = await store.open();
 * await first.close();
 * const second = await store.open(); // has what `first` appended
 */
export function memory(options: MemoryOptions = {}): Store {
  const kept: Kept = { frames: [], blobs: new Map(), mark: null, clean: true, held: false, exists: false };
  return {
    label: 'memory',
    open: async () => openMemory(kept, options),
    openReadonly: async () => openMemoryReadonly(kept, options),
  };
}

function openMemory(kept: Kept, options: MemoryOptions): OpenStore {
  if (kept.held) {
    throw new RepriseError('world_locked', 'this store is already open', { where: 'memory', hint: 'Close it first.' });
  }
  const door = new Door();
  const staged = new Map<string, Uint8Array>();
  const { mark: markAtOpen, clean: cleanlyClosed } = kept;
  kept.held = true;
  kept.exists = true;
  kept.clean = false;
  return {
    journal: {
      ...journalReader(kept, door),
      append: async (...call) => door.pass(() => append(kept, staged, ...call)),
    },
    content: contentStore(kept, staged, door, options.hash ?? portableSha256),
    ...(options.hash === undefined ? {} : { hash: options.hash }),
    cleanlyClosed,
    markAtOpen,
    mark: async (note) =>
      door.pass(() => {
        kept.mark = note;
      }),
    close: async () => {
      if (!door.shut()) return;
      kept.clean = true;
      kept.held = false;
    },
  };
}

function openMemoryReadonly(kept: Kept, options: MemoryOptions): ReadonlyStore {
  if (!kept.exists)
    throw new RepriseError('world_absent', 'this store was never opened for writing', { where: 'memory' });
  const door = new Door();
  return {
    journal: journalReader(kept, door),
    content: { ...contentReader([kept.blobs], door), list: () => list([kept.blobs], door) },
    ...(options.hash === undefined ? {} : { hash: options.hash }),
    close: async () => {
      door.shut();
    },
  };
}

function journalReader(kept: Kept, door: Door): Pick<Journal, 'head' | 'read' | 'findLast'> {
  return {
    head: async () => door.pass(() => headOf(kept)),
    read: (from, to) => read(kept, door, from, to),
    findLast: async (kind, seq) =>
      door.pass(() => {
        const found = kept.frames.findLast((frame) => frame.seq <= seq && frame.kind === kind);
        return found === undefined ? undefined : copyFrame(found);
      }),
  };
}

function append(kept: Kept, staged: Map<string, Uint8Array>, frames: readonly StoredFrame[], expected: Head): Head {
  assertConsecutive(frames, expected);
  assertHead(headOf(kept), expected);
  kept.frames.push(...frames.map(copyFrame));
  for (const [hex, bytes] of staged) kept.blobs.set(hex, bytes);
  staged.clear();
  return headOf(kept);
}

async function* read(kept: Kept, door: Door, from: number, to = Number.POSITIVE_INFINITY): AsyncGenerator<StoredFrame> {
  for (let seq = Math.max(from, 0); seq <= to; seq++) {
    const frame = door.pass(() => kept.frames[seq]);
    if (frame === undefined) return;
    yield copyFrame(frame);
  }
}

function contentStore(kept: Kept, staged: Map<string, Uint8Array>, door: Door, hash: Hash): ContentStore {
  const places = [staged, kept.blobs];
  return {
    ...contentReader(places, door),
    list: () => list(places, door),
    put: async (bytes) =>
      door.pass(() => {
        const copy = new Uint8Array(bytes); // not slice(): of a Node Buffer that is a view
        const hex = toHex(hash(copy));
        if (!places.some((place) => place.has(hex))) staged.set(hex, copy);
        return Ref.fromHex(hex);
      }),
  };
}

/** No digest is checked on the way out: the only copy of the bytes is private, so nothing can have changed it. */
function contentReader(places: readonly ReadonlyMap<string, Uint8Array>[], door: Door): ContentReader {
  return {
    get: async (ref) =>
      door.pass(() => {
        const bytes = places.find((place) => place.has(ref.hex))?.get(ref.hex);
        return bytes === undefined ? undefined : new Uint8Array(bytes);
      }),
    has: async (ref) => door.pass(() => places.some((place) => place.has(ref.hex))),
  };
}

async function* list(places: readonly ReadonlyMap<string, Uint8Array>[], door: Door): AsyncGenerator<Ref> {
  const names = door.pass(() => new Set(places.flatMap((place) => [...place.keys()])));
  for (const hex of names) yield Ref.fromHex(hex);
}

function headOf(kept: Kept): Head {
  const last = kept.frames.at(-1);
  return last === undefined ? EMPTY_HEAD : { seq: last.seq, digest: last.head };
}

function copyFrame(frame: StoredFrame): StoredFrame {
  return { seq: frame.seq, at: frame.at, kind: frame.kind, head: frame.head, bytes: new Uint8Array(frame.bytes) };
}

/** Refuses everything after close, so that a late writer cannot reach the next opener's world. */
class Door {
  #open = true;

  pass<T>(body: () => T): T {
    if (!this.#open) throw new RepriseError('world_closed', 'the store was closed', { where: 'memory' });
    return body();
  }

  /** Shuts it; false when it was shut before. */
  shut(): boolean {
    const was = this.#open;
    this.#open = false;
    return was;
  }
}
