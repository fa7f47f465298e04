/** `GET /api/now?at`: the first screen, from the newest snapshot and the frames behind it. */
import { nowOf } from '@reprise/operators/now';
import { AT } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { NowReport } from '../contract/index.js';
import { troubleRows } from './trouble-rows.js';

/** How many things of a list stand on the first screen. */
const FIRST = 20;

export const now = question({ at: AT }, async (asked, { at }): Promise<NowReport> => {
  const { store, path, signal } = asked;
  const { pending, attempts, failed, words } = await nowOf(store, {
    ...{ world: path, signal },
    ...(at === undefined ? {} : { at }),
  });
  const trouble = await troubleRows(asked, { isNow: at === undefined, attempts, failed });
  return {
    ...{ frame: pending.frame, at: pending.at },
    waiting: pending.waiting.slice(0, FIRST),
    waiting_total: pending.waiting.length,
    unfinished: pending.unfinished.slice(0, FIRST),
    last_words: words,
    trouble: trouble.slice(0, FIRST),
    trouble_total: trouble.length,
  };
});
