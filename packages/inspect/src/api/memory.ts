/** `GET /api/memory?item&at&limit&after`: what agents keep. `GET /api/readers?item&at&limit&after`: who may read an item of it. */
import { present } from '@reprise/contracts';
import { memoryOf } from '@reprise/operators/memory';
import { readersOf } from '@reprise/operators/readers';
import { AFTER, AT, LIMIT, optional, TEXT } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { MemoryReport, ReadersReport } from '../contract/index.js';

export const memory = question(
  { item: optional(TEXT), at: AT, limit: LIMIT, after: AFTER },
  async ({ store, signal, apps }, given): Promise<MemoryReport> =>
    memoryOf(store, await apps(), { signal, ...present(given) }),
);

export const readers = question(
  { item: TEXT, at: AT, limit: LIMIT, after: AFTER },
  async ({ store, signal, apps }, { item, ...given }): Promise<ReadersReport> =>
    readersOf(store, await apps(), item, { signal, ...present(given) }),
);
