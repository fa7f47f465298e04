/** Queries to a text index: the documents with these words, the best first. */
import { RepriseError } from '@reprise/contracts';
import type { OpenViewStore } from '../../ports/views/port.js';
import {
  afterPrefix,
  compareBytes,
  decodeKey,
  encodeKey,
  type RowKey,
  type RowKeyPart,
  textPrefix,
} from '../../pure/codec/index.js';
import { averageLength, type Posting, rarity, readPostings, scoreOf, wordsOf } from '../../pure/text/index.js';
import { PREFIX_WORDS_MAX, QUERY_WORDS_MAX } from './bounds.js';
import { entryKey, joined, PART } from './layout.js';
import { limitOf } from './query.js';
import { documentIn, NO_TEXT, postingsUnder, totalsIn, totalsKey, wordAndChunk } from './text-fold.js';

/** A search of a text index: which words, and how many documents. */
export interface TextQuery {
  /** The words; case, accents and punctuation are ignored. */
  readonly text: string;
  /** Whether a document must have all words or any of them; `all` when absent. */
  readonly match?: 'all' | 'any';
  /** Treats the last word as a prefix: for search while a user types. */
  readonly prefix?: boolean;
  /** Only documents whose id begins with these parts: of a partitioned index at least those of one partition. */
  readonly under?: RowKey;
  /** The maximum number of documents; 100 when absent, 1,000 at most. */
  readonly limit?: number;
}

/** A document that was found. */
interface TextHit {
  readonly id: RowKey;
  /** Its score: a whole number, comparable only within the same answer. */
  readonly score: number;
}

/** The result, from the index after frame `seq`: the best first, by id among equals. */
export interface TextHits {
  readonly hits: readonly TextHit[];
  /** How many documents match, including those beyond the limit. */
  readonly total: number;
  readonly seq: number;
}

/** A matching document: its score, how many words of the query it has, and the last of them. */
type Found = Map<number, { score: number; groups: number; last: number }>;

/** Searches an index. Runs between commits. */
export async function searchText(
  store: OpenViewStore,
  { name: view, partition: parts }: { readonly name: string; readonly partition: number },
  query: TextQuery,
): Promise<Omit<TextHits, 'seq'>> {
  const limit = limitOf(query.limit);
  const words = queryWords(query);
  if (words.length === 0) return { hits: [], total: 0 };
  const partition = partitionOf(query.under, parts);
  const bytes = await store.get(view, totalsKey(partition));
  const { documents, words: total } = bytes === undefined ? NO_TEXT : totalsIn(bytes);
  const average = averageLength(total, documents);
  const found: Found = new Map();
  for (const [group, word] of words.entries()) {
    const isBeginning = query.prefix === true && group === words.length - 1;
    for (const postings of await postingsOf(store, { view, partition }, word, isBeginning)) {
      const weight = rarity(documents, postings.length);
      for (const { document, count, length } of postings) {
        addScore(found, document, group, scoreOf(weight, count, length, average));
      }
    }
  }
  const inside = await documentsUnder(store, view, query.under, parts);
  const needed = query.match === 'any' ? 1 : words.length;
  const fitting = [...found].filter(([document, { groups }]) => groups >= needed && inside?.has(document) !== false);
  return { hits: await best(store, view, fitting, limit), total: fitting.length };
}

/** The partition that a query names. */
function partitionOf(under: RowKey | undefined, parts: number): readonly RowKeyPart[] {
  if (parts === 0) return [];
  const named = under === undefined ? [] : typeof under === 'object' ? under : [under];
  if (named.length >= parts) return named.slice(0, parts);
  throw refusal('the search names no partition', `\`under\` with at least ${parts} parts`, under);
}

/** The words of a query, each once. */
function queryWords({ text, match = 'all' }: TextQuery): readonly string[] {
  if (typeof text !== 'string') throw refusal('invalid search text', 'text', text);
  if (match !== 'all' && match !== 'any') throw refusal('invalid option "match"', 'all or any', match);
  const words = wordsOf(text);
  // The last occurrence of a word counts: it may be the prefix.
  const once = words.filter((word, i) => words.lastIndexOf(word) === i);
  if (once.length > QUERY_WORDS_MAX) throw refusal('too many words', `at most ${QUERY_WORDS_MAX}`, once.length);
  return once;
}

/** The postings of a word, or of each word with that prefix, in the order of the words. */
async function postingsOf(
  store: OpenViewStore,
  { view, partition }: { readonly view: string; readonly partition: readonly RowKeyPart[] },
  word: string,
  isBeginning: boolean,
): Promise<Posting[][]> {
  const from = joined(postingsUnder(partition), isBeginning ? textPrefix(word) : encodeKey(word));
  const to = afterPrefix(from) ?? null;
  const lists = new Map<string, Posting[]>();
  for (const [key, bytes] of await store.scan(view, { from, to, limit: Number.MAX_SAFE_INTEGER })) {
    const [of, chunk] = wordAndChunk(key);
    const list = lists.get(of) ?? [];
    if (list.length === 0 && lists.size >= PREFIX_WORDS_MAX) break;
    for (const posting of readPostings(bytes, chunk)) list.push(posting);
    lists.set(of, list);
  }
  return [...lists.values()];
}

/** A word of the query counts once for a document, however many words have it as a prefix. */
function addScore(found: Found, document: number, group: number, score: number): void {
  const known = found.get(document) ?? { score: 0, groups: 0, last: -1 };
  if (known.last !== group) known.groups++;
  known.last = group;
  known.score += score;
  found.set(document, known);
}

/** The documents under a key; undefined when it does not choose among those of the index or partition. */
async function documentsUnder(
  store: OpenViewStore,
  view: string,
  under: RowKey | undefined,
  parts: number,
): Promise<ReadonlySet<number> | undefined> {
  const named = typeof under === 'object' ? under.length : 1;
  if (under === undefined || (parts > 0 && named === parts)) return undefined;
  const from = joined(entryKey(PART.row), encodeKey(under));
  const entries = await store.scan(view, { from, to: afterPrefix(from) ?? null, limit: Number.MAX_SAFE_INTEGER });
  return new Set(entries.map(([, bytes]) => documentIn(bytes).number));
}

/** The best matches. Ids are read only for documents that may be among them. */
async function best(
  store: OpenViewStore,
  view: string,
  fitting: readonly (readonly [number, { readonly score: number }])[],
  limit: number,
): Promise<TextHit[]> {
  const ranked = fitting.map(([document, { score }]) => ({ document, score })).sort((a, b) => b.score - a.score);
  const least = ranked[Math.min(limit, ranked.length) - 1]?.score ?? 0;
  const candidates: { readonly id: Uint8Array; readonly score: number }[] = [];
  for (const { document, score } of ranked) {
    if (score < least) break;
    const id = await store.get(view, entryKey(PART.id, document));
    if (id !== undefined) candidates.push({ id, score });
  }
  candidates.sort((a, b) => b.score - a.score || compareBytes(a.id, b.id));
  return candidates.slice(0, limit).map(({ id, score }) => ({ id: decodeKey(id), score }));
}

function refusal(what: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_argument', what, { expected, actual });
}
