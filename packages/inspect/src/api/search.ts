/** `GET /api/search?q&at`: where some words lead. Names and places are looked up; texts are searched at the end of the story. */
import { isRepriseError, shortText } from '@reprise/contracts';
import { ownerWords } from '@reprise/operators/names';
import { frameOf } from '@reprise/operators/page';
import { partsOf, sessionsOf } from '@reprise/operators/sessions';
import { storyOf } from '@reprise/operators/story';
import { AT, TEXT } from '../ask/parameters.js';
import { type Asked, question } from '../ask/question.js';
import type { SearchReport } from '../contract/index.js';
import { cellsAt } from './parts/cells.js';

type Hit = SearchReport['hits'][number];

/** How many entries of the story are searched, and how many hits of a kind are listed. */
const [ENTRIES, LISTED_MAX] = [400, 10];

/** The characters of a hit. */
const WORDS_MAX = 160;

export const search = question({ q: TEXT, at: AT }, async (asked, { q, at }): Promise<SearchReport> => {
  const { store, signal } = asked;
  const frame = await frameOf(store, at);
  const words = q.trim().toLowerCase();
  const fits = (text: string): boolean => text.toLowerCase().includes(words);
  if (words === '') return { hits: [] };
  const { trees, projects } = await partsOf(store, { at: frame, signal });
  const named = [
    ...trees.filter(fits).map((name) => hit(['tree', name], `tree ${name}`)),
    ...projects.filter(fits).map((name) => hit(['team', name], `project ${name}`)),
  ];
  const hits = [
    ...placeHits(words, frame),
    ...(await digestHits(asked, words)),
    ...named.slice(0, LISTED_MAX),
    ...(await sessionHits(asked, frame, fits)),
    ...(await cellHits(asked, frame, fits)),
    ...(await storyHits(asked, frame, fits)),
  ];
  return { hits };
});

function hit(path: readonly (string | number)[], what: string, place: Hit['place'] = null): Hit {
  return { to: `/${path.map((part) => encodeURIComponent(part)).join('/')}`, what, place };
}

/** A frame or a record that exists. */
function placeHits(words: string, last: number): readonly Hit[] {
  const [, seq, i] = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(words) ?? [];
  if (seq === undefined || Number(seq) > last) return [];
  return [i === undefined ? hit(['f', seq], `frame ${seq}`) : hit(['f', seq, i], `record ${seq}.${i}`)];
}

/** Content with a whole digest. */
async function digestHits({ store }: Asked, words: string): Promise<readonly Hit[]> {
  const [, hex] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(words) ?? [];
  if (hex === undefined) return [];
  const { Ref } = await import('@reprise/contracts');
  const isThere = (await store.content.get(Ref.fromHex(hex)).catch(unlessGone)) !== undefined;
  return isThere ? [hit(['b', hex], `content ${hex.slice(0, 12)}…`)] : [];
}

function unlessGone(error: unknown): undefined {
  if (!isRepriseError(error)) throw error;
}

async function sessionHits(
  { store, signal }: Asked,
  at: number,
  fits: (text: string) => boolean,
): Promise<readonly Hit[]> {
  const { sessions } = await sessionsOf(store, { at, signal });
  return sessions
    .filter(({ of }) => fits(`${of.session ?? ''} ${ownerWords(of)}`))
    .slice(0, LISTED_MAX)
    .map(({ of, changed }) => hit(['story', of.session ?? ''], `session ${ownerWords(of)}`, changed));
}

async function cellHits(asked: Asked, at: number, fits: (text: string) => boolean): Promise<readonly Hit[]> {
  const all = [...(await cellsAt(asked, at))].filter(fits).sort();
  return all.slice(0, LISTED_MAX).map((cell) => {
    const slash = cell.indexOf('/', cell.indexOf('@'));
    return hit(['cell', cell.slice(0, slash), cell.slice(slash + 1)], `cell ${cell}`);
  });
}

async function storyHits(
  { store, signal }: Asked,
  at: number,
  fits: (text: string) => boolean,
): Promise<readonly Hit[]> {
  const { entries } = await storyOf(store, { at, limit: ENTRIES, signal });
  return entries
    .filter(({ words }) => fits(words))
    .slice(-LISTED_MAX)
    .reverse()
    .map(({ of, place, frame, at: time, words }) => {
      const path = of?.session == null ? ['story'] : ['story', of.session];
      const { to } = hit(path, '');
      return { to: `${to}?at=${at}&sel=${place}`, what: shortText(words, WORDS_MAX), place: { frame, at: time } };
    });
}
