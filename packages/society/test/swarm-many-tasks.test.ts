/** Swarms with more tasks than one page of a table holds. */
import type { ReducerContext, Table } from '@reprise/kernel/define';
import { key } from '@reprise/org/contracts';
import type { SwarmState, SwarmTask } from '@reprise/society/contracts';
import { expect, it } from 'vitest';
import { tasksOf } from '../src/pure/reducer/swarm/context.js';
import { cancelTasks } from '../src/pure/reducer/swarm/tasks.js';

/** The most rows that a table gives at once. */
const PAGE = 256;
const TASKS = 600;

/** A table as a reducer sees it: a page at a time. */
function tableOf<V>(rows: Map<string, V>): Table<V> {
  const range: Table<V>['range'] = ({ after = '', limit = PAGE } = {}) =>
    [...rows].filter(([key]) => key > after).slice(0, Math.min(limit, PAGE));
  return {
    size: rows.size,
    range,
    get: (key) => rows.get(key),
    set: (key, value) => void rows.set(key, value),
    delete: (key) => rows.delete(key),
    first: () => range({ limit: 1 })[0],
  };
}

it('a swarm with more tasks than a page of its table counts them all, and none is left open when it is over [SOC-117]', () => {
  const rows = new Map<string, SwarmTask>();
  for (let n = 1; n <= TASKS; n++)
    rows.set(key(n), { status: 'running', agent_id: `agent ${n}`, report_ref: null } as SwarmTask);
  const facts: unknown[] = [];
  const ctx = {
    address: ['society/Swarm@1', 'many'],
    table: () => tableOf(rows),
    record: (_: string, value: unknown) => facts.push(value),
  } as unknown as ReducerContext;
  const draft = { reserved: 1, tasks: { next: TASKS + 1, open: TASKS } } as SwarmState;
  expect(tasksOf(ctx)).toHaveLength(TASKS);
  cancelTasks(draft, ctx);
  expect(draft.tasks.open).toBe(0);
  expect(facts).toHaveLength(TASKS);
  expect(tasksOf(ctx).filter(([, { status }]) => status !== 'cancelled')).toEqual([]);
});
