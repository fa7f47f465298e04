/**
 * What a swarm shows: its agents, and what came of their tasks. A client reads words by the links of its rows; a model is
 * shown the words of a page in one text, since it reads no links.
 *
 * Invariants
 * V1  A page ends with its limit or with the room of the answer, and names where it goes on: no row is left off in silence.
 */

import type { Value } from '@reprise/contracts';
import { byteLength } from '@reprise/kernel/codec';
import type { SocietyCallOf } from '../../contracts/entity-parts.js';
import type { SwarmState, SwarmTask } from '../../contracts/swarm/swarm.js';
import { SWARM_ROWS } from '../../contracts/swarm/tools.js';
import { memberOr, membersOf, type SwarmContext, tasksOf } from './context.js';

type NumberedTask = readonly [number, SwarmTask];

/** A page of rows, the tasks of it, and where the next page begins. */
export interface SwarmPage {
  readonly agents: readonly Value[];
  readonly results: readonly Value[];
  readonly tasks: readonly NumberedTask[];
  readonly next?: string;
}

/** The room of what stands beside the rows. */
const HEAD_BYTES = 512;

/** The whole progress of a task. */
export const MILLION = 1_000_000;

/** How large a page may be, and who reads it. */
interface PageTerms {
  readonly bytes: number;
  readonly model: boolean;
  readonly limit?: number | undefined;
}

interface PagedRow {
  readonly cursor: string;
  readonly row: Value;
  readonly of: 'agents' | 'results';
  readonly task?: NumberedTask;
}

/** A page of the agents of a swarm, and after them of what came of its tasks (V1). */
export function pageOfSwarm(after: string | undefined, terms: PageTerms, ctx: SwarmContext): SwarmPage {
  const rows = [...agentRows(ctx), ...resultRows(begunTasks(ctx), terms.model, ctx)];
  const at = after === undefined ? -1 : rows.findIndex(({ cursor }) => cursor === after);
  return paged(at < 0 && after !== undefined ? rows.filter(isAfter(after)) : rows.slice(at + 1), terms);
}

export function pageOfResults(tasks: readonly NumberedTask[], terms: PageTerms, ctx: SwarmContext): SwarmPage {
  return paged(resultRows(tasks, terms.model, ctx), terms);
}

/** The number of a result in a cursor; 0 for the beginning. */
export function numberIn(after: SocietyCallOf<'swarm_status'>['after']): number {
  return after?.startsWith('r') === true ? Number(after.slice(1)) : 0;
}

export function begunTasks(ctx: SwarmContext): readonly NumberedTask[] {
  return tasksOf(ctx).filter(([, { status }]) => status !== 'waiting');
}

/** What the words of a swarm's end are: their link, and whether a model said them. */
export function synthesisOf({ synthesis_ref, synthesis_kind }: SwarmState): Readonly<Record<string, Value>> {
  if (synthesis_ref === null) return {};
  return { synthesis: { link: synthesis_ref, kind: synthesis_kind ?? 'text' } };
}

function agentRows(ctx: SwarmContext): readonly PagedRow[] {
  return membersOf(ctx).flatMap(([, { slot, agent_id, status, progress }], place): PagedRow[] => {
    if (agent_id === null) return [];
    const part = progress === 0 ? {} : { progress: progress / MILLION };
    return [{ cursor: `a${place + 1}`, row: { slot, agent_id, status, ...part }, of: 'agents' }];
  });
}

function resultRows(tasks: readonly NumberedTask[], isForModel: boolean, ctx: SwarmContext): readonly PagedRow[] {
  return tasks.map((task): PagedRow => {
    return { cursor: `r${task[0]}`, row: resultRow(task, isForModel, ctx), of: 'results', task };
  });
}

function resultRow([n, task]: NumberedTask, isForModel: boolean, ctx: SwarmContext): Value {
  const { member, agent_id, status, code, output_ref, report_ref } = task;
  const { slot } = memberOr(ctx, member);
  const link = report_ref ?? output_ref;
  const words = link === null || isForModel ? {} : { link, kind: report_ref === null ? 'llm_output' : 'text' };
  return { task: n, agent_id, slot, status, ...(code === null ? {} : { code }), ...words };
}

function isAfter(after: string) {
  return ({ cursor, of }: PagedRow) => {
    if (after.startsWith('a')) return of === 'results' || Number(cursor.slice(1)) > Number(after.slice(1));
    return of === 'results' && Number(cursor.slice(1)) > numberIn(after);
  };
}

function paged(rows: readonly PagedRow[], { bytes, limit = SWARM_ROWS.usual }: PageTerms): SwarmPage {
  let left = bytes - HEAD_BYTES;
  const page: PagedRow[] = [];
  for (const one of rows) {
    left -= byteLength(one.row);
    if (page.length === limit || (left < 0 && page.length > 0)) break;
    page.push(one);
  }
  const of = (kind: PagedRow['of']) => page.filter((one) => one.of === kind);
  const last = page.length < rows.length ? page.at(-1)?.cursor : undefined;
  return {
    agents: of('agents').map(({ row }) => row),
    results: of('results').map(({ row }) => row),
    tasks: page.flatMap(({ task }) => (task === undefined ? [] : [task])),
    ...(last === undefined ? {} : { next: last }),
  };
}
