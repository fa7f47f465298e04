/** What sessions said last, read from the end of the journal. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { formatAddress, shortText } from '@reprise/contracts';
import { IdNames, type Owner } from '@reprise/operators/names';
import { EntryReader, RecentReader } from '@reprise/operators/story';
import type { Asked } from '../ask/question.js';
import type { LastWords } from '../contract/index.js';

/** How many entries are looked at, and how many sessions are listed. */
const [ENTRIES, LISTED_MAX] = [40, 5];

/** The most characters of the words of one. */
const WORDS_MAX = 600;

/** What each session said last, the latest first. @param owners whose sessions they are, by address */
export async function lastWords(
  { store, signal }: Asked,
  frame: number,
  owners: ReadonlyMap<string, Owner>,
): Promise<readonly LastWords[]> {
  const ids = new IdNames(store);
  const reader = new RecentReader(store, () => new EntryReader(store.content, ids, { full: false }), signal);
  const found = new Map<string, LastWords>();
  for (const { seq, i, at, of } of (await reader.last(frame, ENTRIES)).toReversed()) {
    if (!('session' in of) || of.kind !== 'answer' || of.text === undefined || of.text === '') continue;
    const owner = owners.get(formatAddress([SESSION_REDUCER, of.session]));
    if (owner === undefined || found.has(of.session)) continue;
    const words = await ids.words(shortText(of.text, WORDS_MAX), reader.from);
    found.set(of.session, { of: owner, place: `${seq}.${i}`, at, words });
    if (found.size === LISTED_MAX) break;
  }
  return [...found.values()];
}
