/** `GET /api/diff?a&b&cell&limit&after`: what changed between two frames. */
import { present } from '@reprise/contracts';
import { diffOf } from '@reprise/operators/diff';
import { AFTER, CELL, FRAME, limit, optional } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { DiffReport } from '../contract/index.js';

/** The cells of a page when no limit is stated, as in the command. */
const CELLS = limit(100);

export const diff = question(
  { a: FRAME, b: FRAME, cell: optional(CELL), limit: CELLS, after: AFTER },
  async ({ store, signal, apps }, { a, b, cell, ...page }): Promise<DiffReport> =>
    diffOf(store, await apps(), { a, b, ...present({ cell }) }, { signal, ...present(page) }),
);
