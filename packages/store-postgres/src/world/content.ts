/** The content of a world: small blobs wait for the next append, large ones are written as they come. */

import { createHash } from 'node:crypto';
import { Ref, RepriseError } from '@reprise/contracts';
import type { BlobShare, ContentReader, ContentStore, ErasableContentStore } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel';
import { hostSha256 } from '@reprise/kernel/driver';
import {
  eraseBlobs,
  erasedThrough,
  isStored,
  pieceBytes,
  storedBytes,
  storedDigests,
  tombstoneOf,
  Upload,
  writeBlob,
} from './blobs.js';
import { journalReader } from './journal.js';
import type { OwnedPlace, WorldPlace } from './place.js';

/** A larger blob does not wait for the next append: it is written when it is put. */
const STAGED_BYTES_MAX = 64 * 1024;

/** Small blobs that wait are written without an append when they have more bytes than this. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

/** The content that waits for an append. */
export class Staged {
  readonly #blobs = new Map<string, Uint8Array>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get(hex: string): Uint8Array | undefined {
    return this.#blobs.get(hex);
  }

  add(hex: string, bytes: Uint8Array): void {
    if (this.#blobs.has(hex)) return;
    this.#blobs.set(hex, bytes);
    this.#bytes += bytes.length;
  }

  /** The blobs that wait now, by digest. */
  all(): readonly (readonly [hex: string, bytes: Uint8Array])[] {
    return [...this.#blobs];
  }

  /** They are durable, or erased. */
  remove(hexes: Iterable<string>): void {
    for (const hex of hexes) {
      this.#bytes -= this.#blobs.get(hex)?.length ?? 0;
      this.#blobs.delete(hex);
    }
  }
}

/** How often a blob is read before it counts as damaged. */
const READS = 2;

const hash = hostSha256();

/** The reading half of the content. @param staged what waits for an append; nothing for a reader */
export function contentReader(
  place: WorldPlace,
  staged = new Staged(),
): ContentReader & Pick<ContentStore, 'list' | 'listShare'> {
  async function* list(range: { readonly from: string; readonly to?: string }): AsyncGenerator<Ref> {
    const waiting = new Set(
      staged
        .all()
        .map(([hex]) => hex)
        .filter((hex) => isWithin(hex, range)),
    );
    for (const hex of waiting) yield Ref.fromHex(hex);
    for await (const hex of storedDigests(place, range)) if (!waiting.has(hex)) yield Ref.fromHex(hex);
  }
  return {
    get: async (ref) => {
      const waiting = staged.get(ref.hex);
      if (waiting !== undefined) return new Uint8Array(waiting);
      for (let reads = 1; ; reads++) {
        const found = await storedBytes(place, ref.hex, reads > 1);
        if (found === undefined) return undefined;
        if (typeof found !== 'string' && hexOf(hash(found)) === ref.hex) return found;
        // A large blob is read in pieces, and a small one after its place: its owner may have erased it meanwhile, or moved it.
        if (!(await isStored(place, ref.hex))) return undefined;
        if (!place.tables.seals) await place.tables.requireSame(place.where); // it may be sealed, or in a pack
        if (typeof found === 'string' && (await unfinishedErasure(place, ref.hex)) !== undefined) return undefined;
        if (reads === READS) throw typeof found === 'string' ? keyless(ref, place) : damaged(ref, place.where);
      }
    },
    has: async (ref) => staged.get(ref.hex) !== undefined || (await isStored(place, ref.hex)),
    erasedBy: async (ref) => {
      // First: an erasure that ends meanwhile is found by one of the two.
      const unfinished = place.tables.seals ? await unfinishedErasure(place, ref.hex) : undefined;
      return unfinished ?? (await tombstoneOf(place, ref.hex));
    },
    erasedThrough: () => erasedThrough(place),
    list: () => list({ from: '' }),
    listShare: (share) => list(rangeOf(share)),
  };
}

/**
 * The frame of an erasure that names a content and is not finished; undefined without one. Between the destruction of a key
 * and the tombstone, which comes with the removal of the row, only the journal says that the content is erased.
 */
async function unfinishedErasure(place: WorldPlace, hex: string): Promise<number | undefined> {
  const through = await erasedThrough(place);
  const last = await journalReader(place).findLast('erase', Number.MAX_SAFE_INTEGER);
  if (last === undefined || last.seq <= through) return undefined; // they come one after the other
  const { ingress } = readFrame(last.bytes, last.seq);
  return ingress.kind === 'erase' && ingress.digests.includes(hex) ? last.seq : undefined;
}

/** The content of a world that this process owns. @param written hears of small blobs that have become rows without an append */
export function stagingContent(
  place: OwnedPlace,
  staged: Staged,
  written: (bytes: number) => void,
): ErasableContentStore {
  async function put(bytes: Uint8Array): Promise<Ref> {
    const own = new Uint8Array(bytes);
    const hex = hexOf(hash(own));
    if (own.length > STAGED_BYTES_MAX) await writeNow(hex, own);
    else staged.add(hex, own);
    if (staged.bytes > WAITING_BYTES_MAX) await flush();
    return Ref.fromHex(hex);
  }

  async function writeNow(hex: string, bytes: Uint8Array): Promise<void> {
    if (place.objects === undefined && bytes.length <= pieceBytes(place)) return writeBlob(place, hex, bytes);
    await upload(pieceByPiece(bytes, pieceBytes(place)));
  }

  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: what an erasure removes must not be written again by a flush that had begun before it. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }

  let flushing: Promise<void> | undefined;
  function flush(): Promise<void> {
    flushing ??= inTurn(async () => {
      for (const [hex] of staged.all()) {
        const bytes = staged.get(hex);
        if (bytes !== undefined) await writeBlob(place, hex, bytes);
        staged.remove([hex]);
        written(place.sealer === undefined ? (bytes?.length ?? 0) : 0);
      }
    }).finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  async function putStream(pieces: AsyncIterable<Uint8Array>): Promise<{ ref: Ref; bytes: number }> {
    const source = inPieces(pieces, pieceBytes(place));
    const first = await source.next();
    const second = first.done === true ? first : await source.next();
    if (second.done === true) {
      const only = first.done === true ? new Uint8Array() : first.value;
      return { ref: await put(only), bytes: only.length };
    }
    return upload(followedBy([first.value, second.value], source));
  }

  async function upload(pieces: AsyncIterable<Uint8Array>): Promise<{ ref: Ref; bytes: number }> {
    const stored = new Upload(place);
    const digest = createHash('sha256');
    let bytes = 0;
    try {
      for await (const piece of pieces) {
        digest.update(piece);
        bytes += piece.length;
        await stored.write(piece);
      }
      const hex = digest.digest('hex');
      await stored.finish(hex);
      return { ref: Ref.fromHex(hex), bytes };
    } catch (error) {
      await stored.remove().catch(() => undefined); // the next opening removes it
      throw error;
    }
  }

  return {
    ...contentReader(place, staged),
    put,
    putStream,
    erase: async (refs, by) => {
      const hexes = refs.map(({ hex }) => hex);
      staged.remove(hexes);
      await inTurn(async () => written(await eraseBlobs(place, hexes, by)));
    },
  };
}

async function* pieceByPiece(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function* followedBy(first: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* rest;
}

/** The same bytes in pieces of one size, but for the last; each is a copy, as the source may reuse its buffer. */
async function* inPieces(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let kept: Uint8Array[] = [];
  let length = 0;
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.slice(at, at + size - length);
      kept.push(part);
      length += part.length;
      at += part.length;
      if (length < size) continue;
      yield Buffer.concat(kept);
      kept = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(kept);
}

/** A share is a range of digests, which an index finds: they are spread evenly. */
function rangeOf({ part, of }: BlobShare): { readonly from: string; readonly to?: string } {
  const edge = (n: number): string =>
    Math.floor((n * 2 ** 32) / of)
      .toString(16)
      .padStart(8, '0');
  return part + 1 === of
    ? { from: part === 0 ? '' : edge(part) }
    : { from: part === 0 ? '' : edge(part), to: edge(part + 1) };
}

function isWithin(hex: string, { from, to }: { readonly from: string; readonly to?: string }): boolean {
  return hex >= from && (to === undefined || hex < to);
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

function damaged(ref: Ref, where: string): RepriseError {
  return new RepriseError('blob_damaged', 'a blob does not have the digest it is named by', {
    where,
    expected: ref.toString(),
    hint: 'Restore the blob from a backup of the database; the journal itself is not affected.',
  });
}

function keyless(ref: Ref, { where, sealing }: WorldPlace): RepriseError {
  return new RepriseError('blob_damaged', 'the key of sealed content is destroyed, and the content with it', {
    where,
    expected: `the key of ${ref} in ${sealing?.keys.label ?? 'the key service'}`,
    actual: 'no key',
    hint: 'It was erased: an erasure is not finished, which the next owner of the world does, or the database was restored from before the erasure. If nobody has erased it, other keys are named here, or keys were lost: restore them from their own backup.',
  });
}
