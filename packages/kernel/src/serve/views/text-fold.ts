/**
 * Folds an entry into a text index: documents are added and removed, and with each the postings of its words.
 *
 * Invariants
 * T1  A document's number depends on the order of `put` alone, also when its content is gone: so an index that is
 *     rebuilt after an erasure has the same bytes as one that saw the content and forgot it.
 * T2  Missing content was erased: its document is left out as a whole, as `forget` leaves it out.
 */
import { isRef, type Ref } from '@reprise/contracts';
import { getErasable } from '../../ports/content/erasable.js';
import type { ContentReader } from '../../ports/content/port.js';
import { getBytes } from '../../ports/content/values.js';
import {
  afterPrefix,
  decode,
  decodeKey,
  encode,
  encodeKey,
  type RowKey,
  type RowKeyPart,
  readUtf8,
} from '../../pure/codec/index.js';
import type { Documents, Entry, TextIndexDefinition, TextSource } from '../../pure/define/index.js';
import { appendPosting, chunkOf, withoutPosting, wordsOf } from '../../pure/text/index.js';
import { type Fold, runFold } from './fold-frame.js';
import { entryKey, joined, PART } from './layout.js';
import type { Overlay } from './overlay.js';

/** The counts of a text index. */
interface TextTotals {
  /** The number of the next document; 0 in the counts of a partition. */
  readonly next: number;
  readonly documents: number;
  /** The number of words in all documents. */
  readonly words: number;
}

/** The counts of an empty index. */
export const NO_TEXT: TextTotals = { next: 0, documents: 0, words: 0 };

/** The key of the counts of an index, and of the number of the next document. */
const TOTALS_KEY: Uint8Array = entryKey(PART.totals);

/** The key of the counts of a partition. */
export function totalsKey(partition: readonly RowKeyPart[]): Uint8Array {
  return partition.length === 0 ? TOTALS_KEY : entryKey(PART.totals, partition);
}

/** The beginning of the keys of a partition's postings. */
export function postingsUnder(partition: readonly RowKeyPart[]): Uint8Array {
  return partition.length === 0 ? entryKey(PART.postings) : entryKey(PART.postings, partition);
}

/** The fold of a text index. */
export function textFold(definition: TextIndexDefinition, content: ContentReader): Fold {
  const { name, from, digest, partition } = definition;
  return {
    name,
    from,
    digest,
    fold: (overlay: Overlay, entry: Entry) => {
      const changes: ((index: TextEntries) => Promise<void>)[] = [];
      const documents: Documents = {
        put: (id, text) => {
          const [place, sources] = [encodeKey(id), sourcesOf(text)];
          changes.push((index) => index.put(place, sources));
        },
        remove: (id) => {
          const place = encodeKey(id);
          changes.push((index) => index.remove(place));
        },
      };
      runFold(() => definition.fold(documents, entry));
      return async () => {
        const index = new TextEntries(overlay, content, partition);
        for (const change of changes) await change(index);
      };
    },
    forget: async (overlay, digests) => {
      const index = new TextEntries(overlay, content, partition);
      for (const digest of digests) await index.forget(digest);
    },
  };
}

function sourcesOf(text: TextSource | readonly TextSource[]): readonly TextSource[] {
  const sources = Array.isArray(text) ? (text as readonly TextSource[]) : [text as TextSource];
  if (sources.every((source) => typeof source === 'string' || linkOf(source) !== undefined)) return sources;
  throw new TypeError('the text of a document is neither text nor a link, nor a list of them');
}

/** The content that a source is read from. */
function linkOf(source: TextSource): Ref | undefined {
  if (typeof source !== 'object' || source === null) return undefined;
  const link: unknown = isRef(source) ? source : source.erasable;
  return isRef(link) ? link : undefined;
}

/** The entry of a document: its number and its length. */
interface Document {
  readonly number: number;
  readonly length: number;
}

/** The entries of a text index, as a fold changes them. */
class TextEntries {
  constructor(
    private readonly overlay: Overlay,
    private readonly content: ContentReader,
    private readonly partitionParts: number,
  ) {}

  async put(id: Uint8Array, sources: readonly TextSource[]): Promise<void> {
    await this.remove(id);
    const totals = await this.#totals([]);
    const number = totals.next;
    this.#writeTotals([], { ...totals, next: number + 1 }); // T1
    const texts = await Promise.all(sources.map((source) => this.#textOf(source)));
    if (texts.includes(undefined)) return; // T2
    const words = texts.flatMap((text) => wordsOf(text ?? ''));
    await this.#add(id, { number, length: words.length }, words, sources);
  }

  async remove(id: Uint8Array): Promise<void> {
    const found = await this.overlay.load(joined(entryKey(PART.row), id));
    if (found !== null) await this.#drop(id, documentIn(found));
  }

  async forget(digest: string): Promise<void> {
    const from = entryKey(PART.content, digest);
    for (const key of await this.overlay.under(from, afterPrefix(from) ?? null)) {
      const id = await this.overlay.load(key);
      if (id !== null) await this.remove(id);
    }
  }

  async #add(
    id: Uint8Array,
    document: Document,
    words: readonly string[],
    sources: readonly TextSource[],
  ): Promise<void> {
    const { number, length } = document;
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    const partition = this.#partitionOf(id);
    for (const [word, count] of counts) {
      const key = postingsKey(partition, word, number);
      const known = this.overlay.atHand(key);
      const chunk = known === undefined ? await this.overlay.load(key) : known;
      this.overlay.write(key, appendPosting(chunk, { document: number, count, length }));
    }
    const links = [...new Set(sources.flatMap((source) => linkOf(source)?.hex ?? []))];
    for (const hex of links) this.overlay.write(entryKey(PART.content, [hex, number]), id);
    this.overlay.write(joined(entryKey(PART.row), id), encode([number, length]));
    this.overlay.write(entryKey(PART.id, number), id);
    this.overlay.write(entryKey(PART.terms, number), encode([[...counts.keys()], links]));
    await this.#count(partition, 1, length);
  }

  async #drop(id: Uint8Array, { number, length }: Document): Promise<void> {
    const [words, links] = await this.#termsOf(number);
    const partition = this.#partitionOf(id);
    for (const word of words) {
      const key = postingsKey(partition, word, number);
      const chunk = await this.overlay.load(key);
      if (chunk !== null) this.overlay.write(key, withoutPosting(chunk, chunkOf(number), number));
    }
    for (const hex of links) this.overlay.write(entryKey(PART.content, [hex, number]), null);
    this.overlay.write(joined(entryKey(PART.row), id), null);
    this.overlay.write(entryKey(PART.id, number), null);
    this.overlay.write(entryKey(PART.terms, number), null);
    await this.#count(partition, -1, -length);
  }

  async #termsOf(number: number): Promise<readonly [readonly string[], readonly string[]]> {
    const bytes = await this.overlay.load(entryKey(PART.terms, number));
    return bytes === null ? [[], []] : (decode(bytes) as unknown as [string[], string[]]);
  }

  /** The text of a source: undefined when its content is gone, empty when it is not text. */
  async #textOf(source: TextSource): Promise<string | undefined> {
    const link = linkOf(source);
    if (link === undefined) return String(source);
    if (!(await this.content.has(link))) return undefined;
    const bytes = await (isRef(source) ? getBytes : getErasable)(this.content, link);
    const text = readUtf8(bytes, 0, bytes.length);
    return typeof text === 'string' ? text : '';
  }

  #partitionOf(id: Uint8Array): readonly RowKeyPart[] {
    return partitionOf(id, this.partitionParts);
  }

  /** Counts a document of a partition, or takes it from the counts. The last one leaves no counts behind. */
  async #count(partition: readonly RowKeyPart[], documents: number, words: number): Promise<void> {
    const totals = await this.#totals(partition);
    const counted = { ...totals, documents: totals.documents + documents, words: totals.words + words };
    if (counted.documents === 0 && partition.length > 0) this.overlay.write(totalsKey(partition), null);
    else this.#writeTotals(partition, counted);
  }

  async #totals(partition: readonly RowKeyPart[]): Promise<TextTotals> {
    const bytes = await this.overlay.load(totalsKey(partition));
    return bytes === null ? NO_TEXT : totalsIn(bytes);
  }

  #writeTotals(partition: readonly RowKeyPart[], { next, documents, words }: TextTotals): void {
    this.overlay.write(totalsKey(partition), encode([next, documents, words]));
  }
}

/** The leading parts of an id. */
function partitionOf(id: Uint8Array, parts: number): readonly RowKeyPart[] {
  if (parts === 0) return [];
  const decoded = decodeKey(id);
  const all = typeof decoded === 'object' ? decoded : [decoded];
  if (all.length >= parts) return all.slice(0, parts);
  throw new TypeError(`the id of a document has ${all.length} parts; its partition takes ${parts}`);
}

export function totalsIn(bytes: Uint8Array): TextTotals {
  const [next, documents, words] = decode(bytes) as unknown as [number, number, number];
  return { next, documents, words };
}

/** Reads a document's own entry. */
export function documentIn(bytes: Uint8Array): Document {
  const [number, length] = decode(bytes) as unknown as [number, number];
  return { number, length };
}

/** The word and the chunk of a key of postings. */
export function wordAndChunk(key: Uint8Array): readonly [string, number] {
  const parts = decodeKey(key.subarray(1)) as readonly RowKeyPart[];
  return [String(parts.at(-2) ?? ''), Number(parts.at(-1) ?? 0)];
}

function postingsKey(partition: readonly RowKeyPart[], word: string, document: number): Uint8Array {
  return entryKey(PART.postings, [...partition, word, chunkOf(document)] satisfies RowKey);
}
