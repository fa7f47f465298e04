/** Follows links from frames to all content that they need, and reads every stored blob. */
import { type Ref, RepriseError } from '@reprise/contracts';
import { LINKS_PER_TURN } from '../../../ports/content/bounds.js';
import type { BlobShare, ContentReader } from '../../../ports/content/port.js';
import type { ReadonlyStore } from '../../../ports/store/store.js';
import { macrotask } from '../../../ports/time/turn.js';
import { decode, linksOf } from '../../../pure/codec/index.js';
import { wasErasedAfter } from './erasures.js';
import { LinkSet } from './link-set.js';

/** Content that is not in the store, and the first frame that needs it. Only the whole journal shows whether it was erased. */
interface Gone {
  readonly ref: Ref;
  readonly where: string;
}

/** Follows links from frames through values to all content that they need, except erased content. */
export class ContentWalk {
  readonly #seen = new LinkSet();
  readonly #gone = new Map<string, Gone>();

  constructor(private readonly content: ContentReader) {}

  /** Missing content, in the order of its mention. */
  get gone(): readonly Gone[] {
    return [...this.#gone.values()];
  }

  /** Whether a blob was read whole: it was followed as a value, and is there. */
  hasRead(hex: string): boolean {
    return this.#seen.has({ hex, kind: 'value' }) && !this.#gone.has(hex);
  }

  /**
   * Follows links.
   *
   * @throws RepriseError `blob_damaged`, and the errors of the content store
   */
  async from(links: readonly Ref[], where: string): Promise<void> {
    for (const ref of links) if (this.#seen.add(ref)) await this.#visit(ref, where);
  }

  /** @param first a link that was not met before */
  async #visit(first: Ref, where: string): Promise<void> {
    const open: Ref[] = [first];
    let read = 0;
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      if (ref !== first && !this.#seen.add(ref)) continue;
      if (++read % LINKS_PER_TURN === 0) await macrotask();
      const links = ref.kind === 'value' ? await this.#linksOf(ref, where) : await this.#nothingOf(ref);
      if (links !== undefined) open.push(...links);
      else if (!this.#gone.has(ref.hex)) this.#gone.set(ref.hex, { ref, where });
    }
  }

  async #nothingOf(ref: Ref): Promise<readonly Ref[] | undefined> {
    return (await this.content.has(ref)) ? [] : undefined;
  }

  async #linksOf(ref: Ref, where: string): Promise<readonly Ref[] | undefined> {
    const bytes = await this.content.get(ref);
    if (bytes === undefined) return undefined;
    try {
      return linksOf(decode(bytes));
    } catch (error) {
      throw new RepriseError('blob_damaged', 'content that is linked as a value is not a value', {
        where: `${where}, ${ref}`,
        cause: error,
      });
    }
  }
}

/** Whether encoded bytes can hold a link: each begins with tag 42. Most frames hold none and need no walk. */
export function mayLink(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0xd8); at >= 0; at = bytes.indexOf(0xd8, at + 1)) if (bytes[at + 1] === 0x2a) return true;
  return false;
}

/** Refuses missing content that was not erased: the first of it. */
export async function requireAccounted(
  gone: readonly Gone[],
  wasErased: (ref: Ref) => Promise<boolean>,
): Promise<void> {
  for (const { ref, where } of gone) if (!(await wasErased(ref))) throw missing(ref, where);
}

/** What blobs are read from. */
export type Verified = Pick<ReadonlyStore, 'content' | 'journal' | 'readTurnByTurn'>;

/**
 * Reads every stored blob of a share once; a store checks the digest of what it reads. A blob that its owner erases after
 * it was listed is left out.
 *
 * @param tick called after each blob of the share
 * @param hasRead whether this verification has read a blob already: it counts, and is not read again
 * @returns their number
 * @throws RepriseError the first defect in the order of the store's list: `blob_missing`, `blob_damaged`, and the errors
 *   of the content store
 */
export async function readBlobs(
  store: Verified,
  share: BlobShare,
  tick: (blobs: number) => Promise<void> | undefined,
  hasRead: (hex: string) => boolean = () => false,
): Promise<number> {
  const { content } = store;
  const end = store.readTurnByTurn?.();
  let blobs = 0;
  try {
    for await (const ref of content.listShare?.(share) ?? inShare(content.list(), share)) {
      if (hasRead(ref.hex) || (await content.get(ref)) !== undefined) await tick(++blobs);
      else if (!(await isErasedNow(store, ref))) throw missing(ref, 'the content store');
    }
  } finally {
    end?.();
  }
  return blobs;
}

/** Whether a blob that was listed was erased since: asked in the next turn, which sees what was erased in this one. */
async function isErasedNow(store: Verified, ref: Ref): Promise<boolean> {
  await macrotask();
  return wasErasedAfter(-1, store, ref);
}

/** The share that has every blob. */
export const ALL_BLOBS: BlobShare = { part: 0, of: 1 };

/** By the first digits of the digest, where the store has no shares of its own. */
async function* inShare(all: AsyncIterable<Ref>, { part, of }: BlobShare): AsyncGenerator<Ref> {
  for await (const ref of all) if (Number.parseInt(ref.hex.slice(0, 8), 16) % of === part) yield ref;
}

function missing(ref: Ref, where: string): RepriseError {
  return new RepriseError('blob_missing', 'content that the journal links is not in the store', {
    where: `${where}, ${ref}`,
    hint: 'Restore the store from a copy that has it.',
  });
}
