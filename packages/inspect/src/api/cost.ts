/** `GET /api/cost?by&from&to&at&limit&after`: what model calls used. `by` is a list with commas, times are journal milliseconds. */
import { present } from '@reprise/contracts';
import { costOf } from '@reprise/operators/cost';
import { AFTER, AT, COST_BY, FRAME, LIMIT, optional } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { CostReport } from '../contract/index.js';

export const cost = question(
  { by: COST_BY, from: optional(FRAME), to: optional(FRAME), at: AT, limit: LIMIT, after: AFTER },
  ({ store, signal }, given): Promise<CostReport> => costOf(store, { signal, ...present(given) }),
);
