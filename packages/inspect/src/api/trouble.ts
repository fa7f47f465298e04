/** `GET /api/trouble?at&all&limit&after`: what went wrong, and what may have run twice. */
import { attemptsOf } from '@reprise/operators/attempts';
import { failedCellsAt } from '@reprise/operators/now';
import { frameOf, pageOf } from '@reprise/operators/page';
import { AFTER, AT, LIMIT, oneOf, optional } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { TroubleReport, TroubleRow } from '../contract/index.js';
import { troubleRows } from './trouble-rows.js';

export const trouble = question(
  { at: AT, all: optional(oneOf('1')), limit: LIMIT, after: AFTER },
  async (asked, { at, all, limit, after }): Promise<TroubleReport> => {
    const { store, signal } = asked;
    const frame = await frameOf(store, at);
    const { from, rows: attempts } = await attemptsOf(store, {
      ...{ from: all === undefined ? 'snapshot' : 0, at: frame, limit: Number.MAX_SAFE_INTEGER, signal },
    });
    const failed = await failedCellsAt(store, frame, signal);
    const rows = await troubleRows(asked, { isNow: at === undefined, attempts, failed });
    const { items, next } = pageOf(rows, { limit, ...(after === undefined ? {} : { after }) }, cursorOf);
    return { frame, from, rows: items, next };
  },
);

function cursorOf({ kind, effect, of, place, what }: TroubleRow): string {
  return [kind, effect ?? of?.cell ?? what, place?.frame ?? ''].join(' ');
}
