/**
 * A store in the memory of its process. It is the reference of the port: the simulator and most tests run on it, so it
 * is deliberately no more lenient than a disk. One opening at a time; frames must follow their head; content that no append
 * made durable is lost at close; what is handed out or taken in is copied, so that a caller who changes its bytes
 * later changes nothing that is stored.
 */
import { Ref, RepriseError, toHex } from '@reprise/contracts';
import type { Hash } from '../../pure/codec/hash.js';
import { hostSha256 } from '../content/host-hash.js';
import { joined } from '../content/pieces.js';
import type { ContentReader, ContentStore, ErasableContentStore } from '../content/port.js';
import { assertConsecutive, assertHead } from '../journal/append-checks.js';
import type { Head, ReadableJournal, StoredFrame } from '../journal/port.js';
import { EMPTY_HEAD } from '../journal/port.js';
import { closable, closableReadonly } from './closable.js';
import type { OpenStore, ReadonlyStore, Store } from './store.js';

/** Options of a memory store. */
interface MemoryOptions {
  /** The sha-256 that names blobs and that the store offers to the world; the host's, or the portable one, when absent. */
  readonly hash?: Hash;
}

/** The data that outlives one opening. */
interface Kept {
  readonly frames: StoredFrame[];
  readonly keys: Map<string, number>;
  readonly blobs: Map<string, Uint8Array>;
  /** Tombstones: the newest erasure that named a digest. */
  readonly erased: Map<string, number>;
  erasedThrough: number;
  mark: string | null;
  clean: boolean;
  held: boolean;
  exists: boolean;
}

/**
 * A store in this process's memory: gone with the process, otherwise as strict as a store on disk. Content that is put
 * without a later append is dropped at close, and no byte array is shared with a caller.
 *
 * @example
 * const store = memory();
 * const first = await store.open();
 * await first.close();
 * const second = await store.open(); // has what `first` appended
 */
export function memory(options: MemoryOptions = {}): Store {
  const kept: Kept = {
    frames: [],
    keys: new Map(),
    blobs: new Map(),
    erased: new Map(),
    erasedThrough: -1,
    mark: null,
    clean: true,
    held: false,
    exists: false,
  };
  return {
    label: 'memory',
    open: async () => closable(openMemory(kept, options), 'memory'),
    openReadonly: async () => closableReadonly(openMemoryReadonly(kept, options), 'memory'),
  };
}

function openMemory(kept: Kept, options: MemoryOptions): OpenStore {
  if (kept.held) {
    throw new RepriseError('world_locked', 'this store is already open', { where: 'memory', hint: 'Close it first.' });
  }
  const staged = new Map<string, Uint8Array>();
  const { mark: markAtOpen, clean: cleanlyClosed } = kept;
  kept.held = true;
  kept.exists = true;
  kept.clean = false;
  return {
    journal: {
      ...journalReader(kept),
      append: async (frames, expected) => append(kept, staged, frames, expected),
    },
    content: contentStore(kept, staged, options.hash ?? hostSha256()),
    ...offered(options),
    cleanlyClosed,
    ended: cleanlyClosed ? 'clean' : 'died',
    markAtOpen,
    mark: async (note) => {
      kept.mark = note;
    },
    close: async () => {
      kept.clean = true;
      kept.held = false;
    },
  };
}

function openMemoryReadonly(kept: Kept, options: MemoryOptions): ReadonlyStore {
  if (!kept.exists) {
    throw new RepriseError('world_absent', 'this store was never opened for writing', { where: 'memory' });
  }
  return {
    journal: journalReader(kept),
    content: contentReader(kept, [kept.blobs]),
    ...offered(options),
    close: async () => {},
  };
}

function offered({ hash = hostSha256() }: MemoryOptions): { hash: Hash } {
  return { hash };
}

function journalReader(kept: Kept): ReadableJournal {
  return {
    head: async () => headOf(kept),
    read: (from, to) => read(kept, from, to),
    findKey: async (key) => kept.keys.get(key),
    findLast: async (kind, seq) => {
      const found = kept.frames.findLast((frame) => frame.seq <= seq && frame.kind === kind);
      return found && copyFrame(found);
    },
  };
}

async function* read(kept: Kept, from: number, to = Number.POSITIVE_INFINITY): AsyncGenerator<StoredFrame> {
  for (let seq = Math.max(from, 0); seq <= to; seq++) {
    const frame = kept.frames[seq];
    if (frame === undefined) return;
    yield copyFrame(frame);
  }
}

function append(kept: Kept, staged: Map<string, Uint8Array>, frames: readonly StoredFrame[], expected: Head): Head {
  assertConsecutive(frames, expected);
  assertHead(headOf(kept), expected);
  for (const frame of frames) {
    kept.frames.push(copyFrame(frame));
    if (frame.key !== undefined) kept.keys.set(frame.key, frame.seq);
  }
  for (const [hex, bytes] of staged) kept.blobs.set(hex, bytes);
  staged.clear();
  return headOf(kept);
}

function contentStore(kept: Kept, staged: Map<string, Uint8Array>, hash: Hash): ErasableContentStore {
  const places = [staged, kept.blobs];
  const keep = (own: Uint8Array): Ref => {
    const hex = toHex(hash(own));
    if (!places.some((place) => place.has(hex))) staged.set(hex, own);
    return Ref.fromHex(hex);
  };
  return {
    ...contentReader(kept, places),
    put: async (bytes) => keep(new Uint8Array(bytes)),
    putStream: async (pieces) => {
      const bytes = await joined(pieces);
      return { ref: keep(bytes), bytes: bytes.length };
    },
    erase: async (refs, by) => {
      for (const { hex } of refs) {
        for (const place of places) place.delete(hex);
        kept.erased.set(hex, by);
      }
      kept.erasedThrough = by;
    },
  };
}

/** No digest is checked on reading: the only copy of the bytes is private, so nothing can have changed it. */
function contentReader(
  kept: Kept,
  places: readonly ReadonlyMap<string, Uint8Array>[],
): ContentReader & Pick<ContentStore, 'list'> {
  return {
    get: async (ref) => {
      const bytes = places.find((place) => place.has(ref.hex))?.get(ref.hex);
      return bytes && new Uint8Array(bytes);
    },
    has: async (ref) => places.some((place) => place.has(ref.hex)),
    erasedBy: async (ref) => kept.erased.get(ref.hex),
    erasedThrough: async () => kept.erasedThrough,
    list: () => list(places),
  };
}

async function* list(places: readonly ReadonlyMap<string, Uint8Array>[]): AsyncGenerator<Ref> {
  const names = new Set(places.flatMap((place) => [...place.keys()]));
  for (const hex of names) yield Ref.fromHex(hex);
}

function headOf(kept: Kept): Head {
  const last = kept.frames.at(-1);
  return last === undefined ? EMPTY_HEAD : { seq: last.seq, digest: last.head };
}

/** Copied by the constructor, since `slice` of a Node Buffer shares its memory. */
function copyFrame(frame: StoredFrame): StoredFrame {
  return { seq: frame.seq, at: frame.at, kind: frame.kind, head: frame.head, bytes: new Uint8Array(frame.bytes) };
}
