/** Values of tables that a recipe got and wrote into: only what it sets is in the table afterwards. */
import assert from 'node:assert/strict';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import { memory, openKernelWorld } from '../../src/index.js';
import { CELLS, CHANGED, firstApp } from './keeping-app.js';

/** What is added to which row, in order; only even numbers are set. */
const ADDED = [
  ['p', 2],
  ['p', 1],
  ['q', 4],
  ['q', 3],
  ['p', 4],
  ['q', 2],
] as const;

/** Holds the rows that recipes are given to a model of them. @throws Error when they differ */
export async function holdTableValues(): Promise<void> {
  const [clock, random] = [new VirtualClock(), seededRandom('tables')];
  await using world = await openKernelWorld({ store: memory(), app: firstApp(), clock, random, recheckEvery: 0 });
  const rows = new Map<string, number>();
  const [cell] = CELLS;
  for (const [key, n] of ADDED) {
    const value = { changes: [{ do: 'put', key, n }], letters: '' } as never;
    await world.request(cell, { name: CHANGED, value });
    const sum = (rows.get(key) ?? 0) + n;
    if (n % 2 === 0) rows.set(key, sum);
    const state = (await world.state(cell)) as unknown as { readonly any: { readonly row: number } };
    assert.equal(state.any.row, sum, `${key} and ${n}`);
  }
}
