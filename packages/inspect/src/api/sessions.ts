/** `GET /api/sessions?at`: who is there. */
import { present } from '@reprise/contracts';
import { sessionsOf } from '@reprise/operators/sessions';
import { AT } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { SessionsReport } from '../contract/index.js';

export const sessions = question(
  { at: AT },
  ({ store, signal }, { at }): Promise<SessionsReport> => sessionsOf(store, present({ at, signal })),
);
