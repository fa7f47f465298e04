/** Worlds as lists of frames and blobs, and random damage to them. */
import { Ref, RepriseError } from '@reprise/contracts';
import fc from 'fast-check';
import { isKeyed, nextHead, type ReadonlyStore, readFrame, requestKey, type StoredFrame } from '../../../src/index.js';
import { toHex } from '../../../src/pure/codec/index.js';
import { nativeHash } from '../../support/laws/run-schedule.js';

/** The content of a store. */
export interface Content {
  readonly frames: readonly StoredFrame[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  /** Tombstones: the newest erasure of a digest. */
  readonly erased: ReadonlyMap<string, number>;
  readonly erasedThrough: number;
  /** Wrong entries of the index of landmarks. */
  readonly lies?: (kind: string, seq: number) => number | undefined;
}

/** Reads the content of a store. */
export async function contentOf(store: ReadonlyStore): Promise<Content> {
  const frames: StoredFrame[] = [];
  for await (const frame of store.journal.read(0)) frames.push(frame);
  const blobs = new Map<string, Uint8Array>();
  for await (const ref of store.content.list()) blobs.set(ref.hex, (await store.content.get(ref)) as Uint8Array);
  const erased = new Map<string, number>();
  for (const { bytes, seq } of frames) {
    const { ingress } = readFrame(bytes, seq);
    if (ingress.kind === 'erase') for (const hex of ingress.digests) erased.set(hex, seq);
  }
  return { frames, blobs, erased, erasedThrough: await store.content.erasedThrough() };
}

/** A store with this content. */
export function storeWith({ frames, blobs, erased, erasedThrough, lies }: Content): ReadonlyStore {
  const last = frames.at(-1);
  const keys = keysOf(frames);
  const newest = (kind: string, seq: number) => frames.findLast((frame) => frame.kind === kind && frame.seq <= seq);
  return {
    hash: nativeHash,
    close: async () => undefined,
    journal: {
      head: async () => ({ seq: last?.seq ?? -1, digest: last?.head ?? '0'.repeat(64) }),
      // By place: a frame that is missing or in another place is for the verification to find.
      read: (from, to = frames.length) => each(frames.slice(from, to + 1)),
      findKey: async (key) => keys.get(key),
      findLast: async (kind, seq) => {
        const lie = lies?.(kind, seq);
        return lie === undefined ? newest(kind, seq) : frames[lie];
      },
    },
    content: {
      get: async (ref) => {
        const bytes = blobs.get(ref.hex);
        if (bytes === undefined || toHex(nativeHash(bytes)) === ref.hex) return bytes;
        throw new RepriseError('blob_damaged', 'a blob does not have its digest', { expected: ref.toString() });
      },
      has: async (ref) => blobs.has(ref.hex),
      erasedBy: async (ref) => erased.get(ref.hex),
      erasedThrough: async () => erasedThrough,
      list: () => each([...blobs.keys()].map((hex) => Ref.fromHex(hex))),
    },
  };
}

/** A kind of damage, and where: each number is taken modulo what there is. */
export interface Damage {
  readonly what: (typeof DAMAGES)[number];
  readonly at: number;
  readonly byte: number;
}

const DAMAGES = [
  'frame flipped',
  'frame forged',
  'frame removed',
  'frames exchanged',
  'head changed',
  'blob flipped',
  'blob removed',
  'tombstone forgotten',
  'snapshot index lies',
  'manifest index lies',
] as const;

/** Random damage; none in one of four cases. */
export const anyDamage: fc.Arbitrary<readonly Damage[]> = fc.array(
  fc.record({ what: fc.constantFrom(...DAMAGES), at: fc.nat(10_000), byte: fc.nat(10_000) }),
  { maxLength: 3 },
);

/** The content with the damage. */
export function damaged(content: Content, damages: readonly Damage[]): Content {
  return damages.reduce(withDamage, content);
}

function withDamage(content: Content, { what, at, byte }: Damage): Content {
  const { frames, blobs, erased } = content;
  if (frames.length === 0) return content;
  const i = at % frames.length;
  const frame = frames[i] as StoredFrame;
  const [hex, bytes] = [...blobs][at % Math.max(blobs.size, 1)] ?? ['', new Uint8Array(1)];
  switch (what) {
    case 'frame flipped':
      return { ...content, frames: frames.with(i, { ...frame, bytes: flipped(frame.bytes, byte) }) };
    case 'frame forged':
      return { ...content, frames: rechained(frames.with(i, { ...frame, bytes: flipped(frame.bytes, byte) })) };
    case 'frame removed':
      return { ...content, frames: frames.toSpliced(i, 1) };
    case 'frames exchanged':
      return { ...content, frames: frames.with(i, frames[byte % frames.length] as StoredFrame) };
    case 'head changed':
      return { ...content, frames: frames.with(i, { ...frame, head: frames[byte % frames.length]?.head ?? '' }) };
    case 'blob flipped':
      return { ...content, blobs: new Map(blobs).set(hex, flipped(bytes, byte)) };
    case 'blob removed':
      return { ...content, blobs: new Map([...blobs].filter(([other]) => other !== hex)) };
    case 'tombstone forgotten':
      return { ...content, erased: new Map([...erased].slice(1)) };
    case 'snapshot index lies':
      return { ...content, lies: (kind, seq) => (kind === 'snapshot' && seq > i ? i : undefined) };
    case 'manifest index lies':
      return { ...content, lies: (kind, seq) => (kind === 'manifest' && seq > i ? i : undefined) };
    default:
      return what satisfies never;
  }
}

function flipped(bytes: Uint8Array, byte: number): Uint8Array {
  const at = byte % Math.max(bytes.length, 1);
  return bytes.with(at, (bytes[at] ?? 0) ^ (1 << (byte % 8)));
}

/** Frames with heads that fit their bytes, as a forger would write them who knows the chain. */
function rechained(frames: readonly StoredFrame[]): StoredFrame[] {
  let head = { seq: -1, digest: '0'.repeat(64) };
  return frames.map((frame) => {
    head = nextHead(head, frame.bytes, nativeHash);
    return { ...frame, head: head.digest };
  });
}

/** The index of requests, rebuilt from the frames that can be read. */
function keysOf(frames: readonly StoredFrame[]): Map<string, number> {
  const keys = new Map<string, number>();
  for (const { bytes, seq } of frames) {
    try {
      const { ingress } = readFrame(bytes, seq);
      if (isKeyed(ingress)) keys.set(requestKey(ingress, nativeHash), seq);
    } catch {
      // a damaged frame is in no index
    }
  }
  return keys;
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
