/** What a tree waits for, read from the tables of its cell and from the sessions of its nodes. */
import type { PartCell } from '@reprise/agent';
import { SESSION_REDUCER, type SessionState, type WaitsFor } from '@reprise/agent/contracts';
import type { World } from '@reprise/kernel';
import type { AskRow, NodeRow, TreeState } from '../pure/index.js';
import { firstOf, secondOf } from '../pure/reducer/keys.js';
import { type TreeWait, type WaitingNode, type WaitingRows, waitsOf } from '../views/index.js';

/** What each node of a tree waits for; nothing for a tree that was not started. @throws RepriseError `cell_failed` */
export async function readWaits(world: World, cell: PartCell): Promise<readonly TreeWait[]> {
  await cell.requireSound();
  const state = await cell.state<TreeState>();
  if (state === undefined) return [];
  const [needs, children] = [await pairsIn(cell, 'needs'), await pairsIn(cell, 'children')];
  const nodes = new Map<number, WaitingNode>();
  for await (const [, entry] of cell.each('nodes')) {
    const row = entry as unknown as NodeRow;
    const around = { needs: needs.get(row.n) ?? [], children: children.get(row.n) ?? [] };
    nodes.set(row.n, { ...row, ...around, waiting: await waitingOf(world, row) });
  }
  const asks = new Map<number, WaitingRows['asks'] extends ReadonlyMap<number, infer A> ? A : never>();
  for await (const [at, entry] of cell.each('asks')) {
    asks.set(Number(at), { ask: Number(at), ...(entry as unknown as AskRow) });
  }
  const { limits, budget, reserved } = state;
  return waitsOf({ limits, budget, reserved, nodes, asks });
}

/** What the session of a waiting run waits for. */
async function waitingOf(world: World, { run, session }: NodeRow): Promise<WaitsFor | null> {
  if (run !== 'waiting' || session === null) return null;
  const state = (await world.state([SESSION_REDUCER, session])) as SessionState | undefined;
  return state?.waiting?.for ?? null;
}

async function pairsIn(cell: PartCell, table: 'needs' | 'children'): Promise<ReadonlyMap<number, readonly number[]>> {
  const found = new Map<number, number[]>();
  for await (const [pair] of cell.each(table)) {
    const n = firstOf(pair);
    const known = found.get(n);
    if (known === undefined) found.set(n, [secondOf(pair)]);
    else known.push(secondOf(pair));
  }
  return found;
}
