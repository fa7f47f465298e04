/** `GET /api/waiting?at&limit&after`: what waits for people. */
import { present } from '@reprise/contracts';
import { pendingIn } from '@reprise/operators/waiting';
import { AFTER, AT, LIMIT } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { WaitingReport } from '../contract/index.js';

export const waiting = question(
  { at: AT, limit: LIMIT, after: AFTER },
  ({ store, path, signal }, given): Promise<WaitingReport> =>
    pendingIn(store, { world: path, signal, ...present(given) }),
);
