/** Rounds over tables that are too long for one delivery. */
import type { Table, TableRange } from '@reprise/kernel/define';
import { describe, expect, it } from 'vitest';
import { beginRound, nextRound, type Round, resumeRounds, someRows } from '../../src/pure/kit/index.js';

function tableOf<V>(rows: Map<string, V>): Table<V> {
  const range = ({ after = '', limit = 256 }: TableRange = {}) =>
    [...rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .filter(([key]) => key > after)
      .slice(0, limit);
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

function cell() {
  const rest = new Map<string, string>();
  const members = new Map(Array.from({ length: 150 }, (_, n) => [String(n).padStart(3, '0'), n]));
  const told: Record<string, string[]> = { ones: [], others: [] };
  let left = 0;
  const ctx = {
    address: ['demo/Cell@1', 'one'],
    table: () => tableOf(rest),
    send: () => {
      left++;
    },
  } as unknown as Parameters<typeof beginRound>[0];
  const roundOf =
    (name: string): Round =>
    (after) =>
      someRows(tableOf(members), { after }, (key) => told[name]?.push(key));
  const deliver = () => {
    left--;
    nextRound(ctx, roundOf);
  };
  return { ctx, rest, members, told, roundOf, deliver, left: () => left };
}

describe('the rounds of a cell', () => {
  it('two rounds at once tell every row once each, with one event under way at any time', () => {
    const at = cell();
    for (const name of ['ones', 'others']) beginRound(at.ctx, name, at.roundOf(name));
    for (; at.left() > 0; at.deliver()) expect(at.left()).toBe(1);
    expect(at.told).toStrictEqual({ ones: [...at.members.keys()], others: [...at.members.keys()] });
    expect(at.rest.size).toBe(0);
  });

  it('a cell that is revived goes on with a round whose event is lost', () => {
    const at = cell();
    beginRound(at.ctx, 'ones', at.roundOf('ones'));
    expect(at.left()).toBe(1); // this one is lost with the cell
    resumeRounds(at.ctx);
    at.deliver();
    at.deliver();
    expect(at.told.ones).toStrictEqual([...at.members.keys()]);
    expect(at.rest.size).toBe(0);
  });
});
