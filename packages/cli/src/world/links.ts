/** Finds what a digest or an id of a journal names, by all of its digits or by its first ones. */
import { isRef, isRepriseError, type Ref, type Value } from '@reprise/contracts';
import type { ContentReader, ReadonlyStore } from '@reprise/kernel';
import { decode, decodeScope, linksOf } from '@reprise/kernel/codec';
import { readFrame } from '@reprise/kernel/store';

/** The first place where a journal mentions a digest or an id. */
export type Mention = { readonly hex: string; readonly seq: number } & (
  | { readonly as: 'head' }
  /** `kind` is the format of the content. The frame links it directly, or through content that it links. */
  | { readonly as: 'link'; readonly kind: Ref['kind'] }
  /** The id of an effect, a request, a world or a definition: records have it as a text. */
  | { readonly as: 'id' }
);

/** The digits of a whole digest. */
export const DIGEST_DIGITS = 64;

/** An id in a record: a text of hex digits only. */
const ID = /^[0-9a-f]{16,128}$/;

/**
 * Finds the digests and ids that begin with some digits, each with its first mention: heads of frames, content that a
 * frame links, ids in records. For a whole digest it stops at the first frame that links it or has it as its head.
 *
 * Damage does not end the search early: the reader of a damaged world wants to see the rest.
 *
 * @param digits lower-case hex digits
 */
export async function findMentions(store: ReadonlyStore, digits: string): Promise<Mention[]> {
  const search = new Search(store.content, digits);
  try {
    for await (const { seq, head, bytes } of store.journal.read(0)) {
      await search.frame(seq, head, bytes);
      if (digits.length === DIGEST_DIGITS && search.found.some(({ as }) => as !== 'id')) break;
    }
  } catch (error) {
    if (!isRepriseError(error, 'journal_damaged')) throw error;
  }
  return search.found;
}

/** A record, and where it stands. */
export interface RecordAt {
  readonly seq: number;
  readonly i: number;
  readonly at: number;
  readonly record: ReturnType<typeof readFrame>['all'][number];
}

/** The records that have an id as a text, in order. */
export async function* recordsWith(store: ReadonlyStore, id: string): AsyncGenerator<RecordAt> {
  for await (const { seq, bytes } of store.journal.read(0)) {
    const { all, ingress } = readFrame(bytes, seq);
    for (const [i, record] of all.entries())
      if (hasText(record, (text) => text === id)) yield { seq, i, at: ingress.at, record };
  }
}

/** Follows links from frames through values; each value is read once. */
class Search {
  readonly #seen = new Set<string>();
  readonly #found = new Map<string, Mention>();

  constructor(
    private readonly content: ContentReader,
    private readonly digits: string,
  ) {}

  /** A digest that is content or a head is not listed as an id once more. */
  get found(): Mention[] {
    return [...this.#found.values()];
  }

  async frame(seq: number, head: string, bytes: Uint8Array): Promise<void> {
    if (head.startsWith(this.digits)) this.#add({ as: 'head', hex: head, seq });
    hasText(readFrame(bytes, seq).all, (text) => {
      if (text.startsWith(this.digits) && ID.test(text)) this.#add({ as: 'id', hex: text, seq });
      return false;
    });
    const open = linksOf(decodeScope(bytes));
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      if (ref.hex.startsWith(this.digits)) this.#add({ as: 'link', hex: ref.hex, seq, kind: ref.kind });
      if (ref.kind === 'raw' || this.#seen.has(ref.hex)) continue;
      this.#seen.add(ref.hex);
      const bytes = await this.content.get(ref).catch(() => undefined);
      if (bytes !== undefined) open.push(...linksIn(bytes));
    }
  }

  #add(mention: Mention): void {
    const known = this.#found.get(mention.hex);
    if (known === undefined || (known.as === 'id' && mention.as !== 'id')) this.#found.set(mention.hex, mention);
  }
}

/** The links of content that is linked as a value; damaged content has none. */
function linksIn(bytes: Uint8Array): Ref[] {
  let value: Value;
  try {
    value = decode(bytes);
  } catch {
    return [];
  }
  return linksOf(value);
}

/** Whether a value has a text, at any depth, that a test accepts. */
function hasText(value: unknown, accepts: (text: string) => boolean): boolean {
  if (typeof value === 'string') return accepts(value);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || isRef(value)) return false;
  return Object.values(value).some((item) => hasText(item, accepts));
}
