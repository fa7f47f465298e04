/** `GET /api/society?at`: who is in the society. `GET /api/trust?at&limit&after`: how trust came to be. */
import { present } from '@reprise/contracts';
import { societyOf, trustOf } from '@reprise/operators/society';
import { AFTER, AT, LIMIT } from '../../ask/parameters.js';
import { question } from '../../ask/question.js';
import type { SocietyReport, TrustReport } from '../../contract/index.js';

export const society = question(
  { at: AT },
  async ({ store, signal, apps }, { at }): Promise<SocietyReport> =>
    societyOf(store, await apps(), present({ at, signal })),
);

export const trust = question(
  { at: AT, limit: LIMIT, after: AFTER },
  async ({ store, signal }, given): Promise<TrustReport> => trustOf(store, { signal, ...present(given) }),
);
