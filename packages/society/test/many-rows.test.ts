/** Entities and swarms with more rows in a table than one page of it holds. */
import type { ReducerContext, Table, TableRange } from '@reprise/kernel/define';
import { nextRound } from '@reprise/org/contracts';
import type { EntityState, SwarmState } from '@reprise/society/contracts';
import { describe, expect, it } from 'vitest';
import { archiveCopies, archiveSomeCopies } from '../src/pure/reducer/memory/memory.js';
import { tellSomeSwarms, tellSwarms } from '../src/pure/reducer/status/told-below.js';
import { answerCollects, answerOthers, answerUncomposed } from '../src/pure/reducer/swarm/collect.js';

const MANY = 600;
const PAGE = 256;

interface Sent {
  readonly to: readonly string[];
  readonly name: string;
  readonly value: never;
}

function tableOf(rows: Map<string, unknown>): Table<unknown> {
  const range = ({ from = '', after = '', before = '~', limit = PAGE }: TableRange = {}) =>
    [...rows].filter(([key]) => key >= from && key > after && key < before).slice(0, Math.min(limit, PAGE));
  return {
    get size() {
      return rows.size;
    },
    range,
    get: (key) => rows.get(key),
    set: (key, value) => void rows.set(key, value),
    delete: (key) => rows.delete(key),
    first: () => range({ limit: 1 })[0],
  };
}

const numbered = (n: number) => String(n).padStart(6, '0');
const many = <T>(row: (n: number) => [string, T]) => new Map(Array.from({ length: MANY }, (_, n) => row(n)));

/** A cell whose deliveries to itself are made one after the other. @returns what it sent to others, and what it stated */
function play(
  address: readonly [string, string],
  tables: Readonly<Record<string, Map<string, unknown>>>,
  begin: (ctx: ReducerContext) => void,
  onward: (event: Sent, ctx: ReducerContext) => void,
) {
  const sent: Sent[] = [];
  const facts: unknown[] = [];
  const plans: unknown[] = [];
  const ctx = {
    address,
    now: 1,
    table: (name: string) => tableOf(tables[name] ?? new Map()),
    record: (_: string, value: unknown) => facts.push(value),
    command: () => undefined,
    emit: (plan: unknown) => plans.push(plan),
    hash: (value: unknown) => JSON.stringify(value),
    send: (to: readonly string[], { name, value }: { name: string; value: unknown }) =>
      sent.push({ to, name, value: value as never }),
  } as unknown as ReducerContext;
  begin(ctx);
  const isOwn = ({ to }: Sent) => to[0] === address[0] && to[1] === address[1];
  let deliveries = 1;
  for (let next = sent.findIndex(isOwn); next >= 0; next = sent.findIndex(isOwn)) {
    const [event] = sent.splice(next, 1);
    if (event !== undefined) onward(event, ctx);
    deliveries++;
  }
  return { sent, facts, plans, deliveries };
}

describe('a table with more rows than a page', () => {
  it.each(['status', 'over', 'ended'] as const)(
    'an entity with 600 swarms tells each of them once (%s), some in one delivery [SOC-133]',
    (of) => {
      const draft = { kind: 'person', status: 'active', depth: 1 } as EntityState;
      const news = of === 'ended' ? (`ended ${'a'.repeat(64)}` as const) : of;
      const tables = { swarms: many((n) => [`swarm-${numbered(n)}`, null]), rest: new Map() };
      const { sent, deliveries } = play(
        ['society/Entity@1', 'ann'],
        tables,
        (ctx) => tellSwarms(draft, news, ctx),
        (_, ctx) => nextRound(ctx as never, () => (after) => tellSomeSwarms(draft, news, after, ctx)),
      );
      expect(sent.map(({ to }) => to[1])).toStrictEqual([...tables.swarms.keys()]);
      expect(new Set(sent.map(({ name }) => name)).size).toBe(1);
      expect(deliveries).toBeGreaterThan(2);
    },
  );

  it('a member that leaves a group archives all of its 600 copies from it that it does not keep, and states each once [SOC-134]', () => {
    const rows = many((n) => [`crew ${numbered(n)}`, { copy: `group:mine#${n + 1}`, own: n % 2 === 0 }]);
    rows.set('crews 000000', { copy: 'group:mine#9999', own: false });
    const { facts, plans } = play(
      ['society/Entity@1', 'ann'],
      { copies: rows, rest: new Map() },
      (ctx) => archiveCopies('crew', 'restrictive', ctx),
      (_, ctx) => nextRound(ctx as never, () => () => archiveSomeCopies('crew', 'restrictive', ctx)),
    );
    expect(plans).toHaveLength(MANY);
    const stated = (facts as { copies: string[] }[]).flatMap(({ copies }) => copies);
    expect(stated).toStrictEqual(Array.from({ length: MANY }, (_, n) => `group:mine#${n + 1}`));
    expect([...rows.keys()]).toStrictEqual(['crews 000000']);
  });

  it('600 calls that wait for the reports of a swarm are all answered when it is over, also those whose words were being composed [SOC-135]', () => {
    const call = (n: number) => ({ by: 'ann', call: `call ${n}`, bytes: 4_000, model: false, after: 0, limit: 10 });
    const waiting = many((n) => [numbered(n), call(n)]);
    const plans = many((n) => [numbered(n), { kind: 'collect', waiting: call(MANY + n) }]);
    plans.set('0', { kind: 'synthesis' } as never);
    const draft = { status: 'failed', coordinator: null } as SwarmState;
    const { sent } = play(
      ['society/Swarm@1', 'markets'],
      { waiting, plans, tasks: new Map(), members: new Map() },
      (ctx) => {
        answerUncomposed(draft, ctx);
        answerCollects(draft, ctx);
      },
      (_, ctx) => {
        answerOthers(draft, ctx);
        answerCollects(draft, ctx);
      },
    );
    const answered = sent.map(({ value }) => (value as { call: string }).call);
    expect(answered).toHaveLength(2 * MANY);
    expect(new Set(answered).size).toBe(2 * MANY);
    expect([waiting.size, plans.size]).toStrictEqual([0, 1]);
  });
});
