/** What agents read of a project: rows of tasks without their briefs, and results as summaries or pieces. */

import { shortText, type Value } from '@reprise/contracts';
import { allRows } from '@reprise/kernel/define';
import { key, startFor, type WaitingCall, wordsForModel } from '@reprise/org/contracts';
import { PROJECT_BOUNDS, type ProjectCallOf, type RecordedResult, type RecordedTask } from '../../contracts/index.js';
import { listPlan, showPlan } from '../../plans/plans.js';
import { resultItems } from '../coordinator/wake.js';
import { type Delivery, resultOr } from '../project/delivery.js';
import { Refused } from '../project/refused.js';

/** The length of one page of rows as JSON: an answer has at most 4 KiB. */
const PAGE_LENGTH = 3_300;

/** How many rows are looked at for one page. */
const LOOKED_AT_MAX = 1_024;

/** The characters of a title in a row. */
const TITLE_LENGTH = 80;

/** A page of tasks: titles, states and edges, never a brief (SPEC-6). */
export function readGraph(delivery: Delivery, { status, after = 0 }: ProjectCallOf<'task_graph'>): Value {
  const rows: Value[] = [];
  let length = 0;
  let looked = 0;
  for (const [at, row] of allRows(delivery.ctx.table('tasks'), { after: key(after) })) {
    const isIn = status === undefined || status.includes(row.status);
    const told = isIn ? taskLine(delivery, Number(at), row) : undefined;
    const size = told === undefined ? 0 : JSON.stringify(told).length;
    if (length + size > PAGE_LENGTH || ++looked > LOOKED_AT_MAX) return { tasks: rows, next: Number(at) - 1 };
    if (told !== undefined) rows.push(told);
    length += size;
  }
  return { tasks: rows };
}

function taskLine(delivery: Delivery, id: number, row: RecordedTask): Value {
  const { title, skill, status, depends_on, failure, result, attempts, ended_by } = row;
  const tasks = delivery.ctx.table('tasks');
  const needs = depends_on.map(({ task }) => task);
  const failed = needs.filter((n) => ['failed', 'cancelled'].includes(tasks.get(key(n))?.status ?? ''));
  return {
    ...{ id, title: shortText(title, TITLE_LENGTH), skill, status, depends_on: needs },
    ...(failed.length === 0 ? {} : { failed_dependencies: failed }),
    ...(failure === null ? {} : { failure }),
    ...(ended_by === undefined ? {} : { by: wordsForModel(ended_by) }),
    ...(attempts < 2 ? {} : { attempts }),
    ...(result === null ? {} : { result_id: result }),
  };
}

const LISTED_AT_ONCE = 20;

/** Lists results with their summaries. The text is composed, so the answer comes later. */
export function listResults(
  delivery: Delivery,
  { processed, after = 0 }: ProjectCallOf<'results_list'>,
  call: WaitingCall,
): Value | undefined {
  const { found, next } = pageOfResults(delivery, processed, after);
  const value = { count: found.length, ...(next === null ? {} : { next }) };
  if (found.length === 0) return value;
  const items = found.flatMap(([n, row]) => resultItems(n, row));
  const sections = [{ title: 'Results', items }];
  const { ctx } = delivery;
  startFor(ctx, ctx.table('plans'), { plan: listPlan, input: { call, sections, value } }, { kind: 'call', call });
  return undefined;
}

function pageOfResults(
  delivery: Delivery,
  processed: boolean | undefined,
  after: number,
): { readonly found: [number, RecordedResult][]; readonly next: number | null } {
  const found: [number, RecordedResult][] = [];
  let looked = 0;
  for (const [at, row] of allRows(delivery.ctx.table('results'), { after: key(after) })) {
    const n = Number(at);
    if (found.length === LISTED_AT_ONCE || ++looked > LOOKED_AT_MAX) return { found, next: n - 1 };
    if (isAsked(row, processed)) found.push([n, row]);
  }
  return { found, next: null };
}

/** Without a filter results of work under way are listed too; with one, those that have ended (SPEC-22). */
function isAsked({ processed_at, ended_at }: RecordedResult, processed: boolean | undefined): boolean {
  if (processed === undefined) return true;
  return ended_at !== null && (processed_at !== null) === processed;
}

/** Shows a piece of a result. The text is read, so the answer comes later. */
export function showResult(
  delivery: Delivery,
  { result_id, offset = 0, bytes = PROJECT_BOUNDS.read_bytes }: ProjectCallOf<'result_read'>,
  call: WaitingCall,
): undefined {
  const { output_ref, status } = resultOr(delivery, result_id);
  if (output_ref === null) throw new Refused('result_not_ok', { result_id, status });
  const input = { call, result: result_id, output_ref, offset, bytes };
  const { ctx } = delivery;
  startFor(ctx, ctx.table('plans'), { plan: showPlan, input }, { kind: 'call', call });
  return undefined;
}
