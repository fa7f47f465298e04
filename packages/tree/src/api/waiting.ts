/** What a tree waits for, read from the tables of its cell and from the sessions of its nodes. */
import { SESSION_REDUCER, type SessionState, type WaitsFor } from '@reprise/agent/contracts';
import type { World } from '@reprise/kernel';
import { CellReader } from '@reprise/org';
import { firstOf, secondOf } from '@reprise/org/contracts';
import type { NodeRow } from '../pure/index.js';
import { type TreeWait, type WaitingAsk, type WaitingNode, waitsOf } from '../views/index.js';
import type { TreeCell } from './requests.js';

/** What each node of a tree waits for; nothing for a tree that was not started. @throws RepriseError `cell_failed` */
export async function readWaits(world: World, cell: TreeCell): Promise<readonly TreeWait[]> {
  await cell.requireSound();
  const state = await cell.state();
  if (state === undefined) return [];
  const [needs, children] = [await pairsIn(cell, 'needs'), await pairsIn(cell, 'children')];
  const nodes = new Map<number, WaitingNode>();
  for await (const [, row] of cell.each('nodes')) {
    const around = { needs: needs.get(row.n) ?? [], children: children.get(row.n) ?? [] };
    nodes.set(row.n, { ...row, ...around, waiting: await waitingOf(world, row) });
  }
  const asks = new Map<number, WaitingAsk>();
  for await (const [at, row] of cell.each('asks')) asks.set(Number(at), { ask: Number(at), ...row });
  const { limits, budget, reserved } = state;
  return waitsOf({ limits, budget, reserved, nodes, asks });
}

/** What the session of a waiting run waits for. */
async function waitingOf(world: World, { run, session }: NodeRow): Promise<WaitsFor | null> {
  if (run !== 'waiting' || session === null) return null;
  const state = await new CellReader<SessionState>(world, [SESSION_REDUCER, session]).state();
  return state?.waiting?.for ?? null;
}

async function pairsIn(cell: TreeCell, table: 'needs' | 'children'): Promise<ReadonlyMap<number, readonly number[]>> {
  const found = new Map<number, number[]>();
  for await (const [pair] of cell.each(table)) {
    const n = firstOf(pair);
    const known = found.get(n);
    if (known === undefined) found.set(n, [secondOf(pair)]);
    else known.push(secondOf(pair));
  }
  return found;
}
