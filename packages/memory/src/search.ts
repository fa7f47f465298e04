/** Searches: the best items of a store by their text, ranked again by score and last use. */
import { RepriseError } from '@reprise/contracts';
import { type Views, wordsOf } from '@reprise/kernel/views';
import { byRank, CANDIDATES_MAX, rankOf } from './pure/index.js';
import { LIVE, memoryText } from './text.js';
import { type ItemRow, memoryItems } from './views.js';

/** What is searched for. */
export interface SearchTerms {
  readonly query?: string;
  readonly ids?: readonly number[];
  readonly k: number;
  readonly tags?: readonly string[];
  readonly all: boolean;
}

/** An item that was found. */
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
  const { query, ids, k, all, tags = [] } = terms;
  const rows = views.view(memoryItems);
  const fits = ({ state, expires_at, tags: has }: ItemRow) =>
    (all || (state === 'live' && (expires_at === null || expires_at > now))) && tags.every((tag) => has.includes(tag));
  const found: FoundRow[] = [];
  for (const { id, text } of ids?.map((one) => ({ id: one, text: 0 })) ??
    (await candidates(views, scope, query ?? '', all))) {
    const row = await rows.get([scope, id]);
    if (row === undefined || !fits(row)) continue;
    found.push({ id, row, rank: rankOf({ text, score: row.score, last_used_at: row.last_used_at }, now) });
  }
  return (ids === undefined ? found.sort(byRank) : found).slice(0, k);
}

async function candidates(views: Views, scope: string, query: string, all: boolean) {
  const text = [...new Set(wordsOf(query))].slice(0, WORDS_MAX).join(' ');
  const under = all ? [scope] : [scope, LIVE];
  const { hits } = await views.text(memoryText).search({ text, match: 'any', under, limit: CANDIDATES_MAX });
  return hits.map(({ id, score }) => ({ id: numberIn(id), text: score }));
}

function numberIn(id: unknown): number {
  const number = Array.isArray(id) ? id[2] : undefined;
  if (typeof number === 'number') return number;
  throw new RepriseError('internal_error', 'a document of the memories has another key than [scope, state, id]');
}
