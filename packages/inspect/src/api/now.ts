/** `GET /api/now?at`: the first screen, from the newest snapshot and the frames behind it. */
import { sessionsOf } from '@reprise/operators/sessions';
import { pendingIn } from '@reprise/operators/waiting';
import { AT } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { NowReport } from '../contract/index.js';
import { lastWords } from './last-words.js';
import { troublesAt } from './trouble.js';

/** How many things of a list stand on the first screen. */
const FIRST = 20;

export const now = question({ at: AT }, async (asked, { at }): Promise<NowReport> => {
  const { store, path, signal } = asked;
  const pending = await pendingIn(store, { ...(at === undefined ? {} : { at }), world: path, limit: ALL, signal });
  const { frame } = pending;
  const trouble = await troublesAt(asked, at, 'snapshot');
  const { sessions } = await sessionsOf(store, { at: frame, signal });
  const owners = new Map(sessions.map(({ of }) => [of.cell, of]));
  return {
    ...{ frame, at: pending.at },
    waiting: pending.waiting.slice(0, FIRST),
    waiting_total: pending.waiting.length,
    unfinished: pending.unfinished.slice(0, FIRST),
    last_words: await lastWords(asked, frame, owners),
    trouble: trouble.rows.slice(0, FIRST),
    trouble_total: trouble.rows.length,
  };
});

/** All entries, to count them. */
const ALL = Number.MAX_SAFE_INTEGER;
