/** Finds the place where a journal mentions a digest: as content that a frame links, or as the head of a frame. */
import { isRepriseError, type Ref, type Value } from '@reprise/contracts';
import { type ContentReader, decode, decodeScope, linksOf, type ReadonlyStore } from '@reprise/kernel';

/** The first mention of a digest. */
export type Mention =
  | { readonly as: 'head'; readonly seq: number }
  /** `kind` is the format of the content. The frame links it directly, or through content that it links. */
  | { readonly as: 'link'; readonly seq: number; readonly kind: Ref['kind'] };

/**
 * Finds the first frame that links a digest or has it as its head.
 *
 * Damage does not end the search early: the reader of a damaged world wants to see the rest.
 */
export async function findMention(store: ReadonlyStore, hex: string): Promise<Mention | undefined> {
  const walk = new Walk(store.content, hex);
  try {
    for await (const { seq, head, bytes } of store.journal.read(0)) {
      if (head === hex) return { as: 'head', seq };
      const kind = await walk.from(bytes);
      if (kind !== undefined) return { as: 'link', seq, kind };
    }
  } catch (error) {
    if (!isRepriseError(error, 'journal_damaged')) throw error;
  }
  return undefined;
}

/** Follows links from frames through values; each value is read once. */
class Walk {
  readonly #seen = new Set<string>();

  constructor(
    private readonly content: ContentReader,
    private readonly wanted: string,
  ) {}

  async from(frame: Uint8Array): Promise<Ref['kind'] | undefined> {
    const open = linksOf(decodeScope(frame));
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      if (ref.hex === this.wanted) return ref.kind;
      if (ref.kind === 'raw' || this.#seen.has(ref.hex)) continue;
      this.#seen.add(ref.hex);
      const bytes = await this.content.get(ref).catch(() => undefined);
      if (bytes !== undefined) open.push(...this.#linksIn(bytes));
    }
    return undefined;
  }

  /** The links of content that is linked as a value; damaged content has none. */
  #linksIn(bytes: Uint8Array): Ref[] {
    let value: Value;
    try {
      value = decode(bytes);
    } catch {
      return [];
    }
    return linksOf(value);
  }
}
