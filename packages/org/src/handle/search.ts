/** Searches: the best items of a store by their text, ranked again by score and last use. */
import { RepriseError } from '@reprise/contracts';
import { type Views, wordsOf } from '@reprise/kernel/views';
import { byRank, CANDIDATES_MAX, rankOf } from '../pure/store/index.js';
import { LIVE, memoryText, OTHER } from './text.js';
import { type ItemRow, memoryItems, memoryRanks, RANKS_IN_ROW } from './views.js';

/** What a search looks for: words, or items by their numbers. */
export interface SearchTerms {
  readonly query?: string;
  readonly ids?: readonly number[];
  readonly k: number;
  readonly tags?: readonly string[];
  readonly all: boolean;
}

export interface FoundRow {
  readonly id: number;
  readonly rank: number;
  readonly row: ItemRow;
}

/** The words of one search. The text index takes no more. */
const WORDS_MAX = 32;

/**
 * Finds items of a store, the best first. Items by their numbers stand in the order in which they were asked for.
 *
 * @param now in journal milliseconds: a rank falls with the days since the last use
 */
export async function searchItems(views: Views, scope: string, terms: SearchTerms, now: number): Promise<FoundRow[]> {
  const { ids, k, all, tags = [] } = terms;
  const ranked = ids?.map((id) => ({ id, rank: 0 })) ?? (await rankedItems(views, scope, terms, now));
  const rows = views.view(memoryItems);
  const found: FoundRow[] = [];
  for (const { id, rank } of ranked) {
    if (found.length >= k) break;
    const row = await rows.get([scope, id]);
    if (row === undefined || !(all || isInUse(row, now)) || !tags.every((tag) => row.tags.includes(tag))) continue;
    found.push({ id, rank, row });
  }
  return found;
}

function isInUse({ state, expires_at }: ItemRow, now: number): boolean {
  return state === 'live' && (expires_at === null || expires_at > now);
}

async function rankedItems(views: Views, scope: string, { query = '', all }: SearchTerms, now: number) {
  const candidates = await candidatesOf(views, scope, query, all);
  const ranks = new Map<number, Awaited<ReturnType<typeof rowOfRanks>>>();
  const ranked: { readonly id: number; readonly rank: number }[] = [];
  for (const { id, text } of candidates) {
    const chunk = Math.floor(id / RANKS_IN_ROW);
    if (!ranks.has(chunk)) ranks.set(chunk, await rowOfRanks(views, scope, chunk));
    const [score, last_used_at, expires] = ranks.get(chunk)?.[id % RANKS_IN_ROW] ?? [0, 0, 0];
    if (!all && expires !== 0 && expires <= now) continue;
    ranked.push({ id, rank: rankOf({ text, score, last_used_at }, now) });
  }
  return ranked.sort(byRank);
}

async function rowOfRanks(views: Views, scope: string, chunk: number) {
  return (await views.view(memoryRanks).get([scope, chunk]))?.ranks ?? [];
}

/** The items with the best texts. Those that are not live are indexed apart, and weighed among themselves. */
async function candidatesOf(views: Views, scope: string, query: string, all: boolean) {
  const text = [...new Set(wordsOf(query))].slice(0, WORDS_MAX).join(' ');
  const found: { readonly id: number; readonly text: number }[] = [];
  for (const part of all ? [LIVE, OTHER] : [LIVE]) {
    const under = [scope, part];
    const { hits } = await views.text(memoryText).search({ text, match: 'any', under, limit: CANDIDATES_MAX });
    for (const { id, score } of hits) found.push({ id: numberIn(id), text: score });
  }
  return found;
}

function numberIn(id: unknown): number {
  const number = Array.isArray(id) ? id[2] : undefined;
  if (typeof number === 'number') return number;
  throw new RepriseError('internal_error', 'a document of the memories has another key than [scope, state, id]');
}
