/** `GET /api/society?at`: who is in the society. */
import { present } from '@reprise/contracts';
import { societyOf } from '@reprise/operators/society';
import { AT } from '../../ask/parameters.js';
import { question } from '../../ask/question.js';
import type { SocietyReport } from '../../contract/index.js';

export const society = question(
  { at: AT },
  async ({ store, signal, apps }, { at }): Promise<SocietyReport> =>
    societyOf(store, await apps(), present({ at, signal })),
);
