/**
 * What an app reads of a tree: rows from the tables of its cell, launches from a view, events from frames, and from its
 * sessions what they wait for.
 */
import { type AgentWorld, readText } from '@reprise/agent';
import { SESSION_REDUCER, type SessionState, type WaitsFor } from '@reprise/agent/contracts';
import { aFlag, aSignal, type Capability, present, requireKnownOptions, wholeFrom } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { meet } from '@reprise/kernel/authority';
import { CellReader } from '@reprise/org';
import { firstOf, key, pairsOf, secondOf } from '@reprise/org/contracts';
import type { NodeRow } from '../pure/index.js';
import {
  type TreeEvent,
  type TreeWait,
  treeEventOf,
  treeFactIn,
  type WaitingAsk,
  type WaitingNode,
  waitsOf,
} from '../views/index.js';
import type { NodeDetail, NodeLaunch, NodePage, OpenAsk, TreeWatchOptions } from './nodes.js';
import { launchRows } from './projections.js';
import type { TreeCell, TreeRequests } from './requests.js';
import { readGiven } from './result.js';

const PAGE_LENGTH = 100;
const PAGE_LENGTH_MAX = 1_000;

export async function readNodes(cell: TreeCell, page: NodePage): Promise<readonly NodeRow[]> {
  requireKnownOptions(page, { under: wholeFrom(1), after: wholeFrom(0), limit: wholeFrom(1) }, 'tree.nodes');
  const { under, after = 0, limit = PAGE_LENGTH } = page;
  const below = new Set(under === undefined ? [] : [under]);
  const found: NodeRow[] = [];
  for await (const [, row] of cell.each('nodes', { from: key(under ?? after + 1) })) {
    // A child has a higher number than its parent.
    if (under !== undefined && !below.has(row.n) && !below.has(row.parent ?? 0)) continue;
    below.add(row.n);
    if (row.n > after) found.push(row);
    if (found.length === Math.min(limit, PAGE_LENGTH_MAX)) break;
  }
  return found;
}

/** A node with what stands around it; undefined for a number that no node has. */
export async function readNode(world: AgentWorld, requests: TreeRequests, n: number): Promise<NodeDetail | undefined> {
  const { cell } = requests;
  const { content } = world.kernel;
  const row = await requests.row(n);
  if (row === undefined) return undefined;
  const needs: NodeDetail['needs'][number][] = [];
  for await (const [pair, edge] of cell.each('needs', pairsOf(n))) needs.push({ node: secondOf(pair), ...edge });
  const children: number[] = [];
  for await (const [pair] of cell.each('children', pairsOf(n))) children.push(secondOf(pair));
  const asks = await readAsks(world, cell);
  return {
    ...row,
    needs,
    children,
    ...(row.prompt_ref === null ? {} : { prompt: await readText(content, row.prompt_ref) }),
    ...(row.result === null ? {} : { given: await readGiven(content, row.result) }),
    launches: await readLaunches(world, requests.name, n),
    openAsks: asks.filter(({ asker }) => asker === n),
    ...present({ rights: await rightsOn(requests, row) }),
  };
}

/** What a node may do: what was said about it and the nodes above it; undefined when nothing was said. */
async function rightsOn(requests: TreeRequests, row: NodeRow): Promise<Capability | undefined> {
  let all: Capability | undefined;
  for (let at: NodeRow | undefined = row; at !== undefined; ) {
    const { n, parent }: NodeRow = at;
    const said = await requests.cell.row('rights', key(n));
    if (said !== undefined) all = meet(all ?? { may: {} }, said);
    at = parent === null ? undefined : await requests.row(parent);
  }
  return all;
}

/** The open questions of a tree, the oldest first. */
export async function readAsks({ kernel }: AgentWorld, cell: TreeCell): Promise<readonly OpenAsk[]> {
  const open: OpenAsk[] = [];
  for await (const [at, row] of cell.each('asks')) {
    if (row.outcome !== null) continue;
    const { asker, options, returns, route, default: chosen, deadline, text_ref } = row;
    const question = await readText(kernel.content, text_ref);
    open.push({
      ...{ ask: Number(at), asker, options, returns, route, question },
      ...present({ default: chosen === null ? undefined : options[chosen], deadline: deadline ?? undefined }),
    });
  }
  return open;
}

async function readLaunches(world: AgentWorld, tree: string, n: number): Promise<readonly NodeLaunch[]> {
  const view = (await world.views()).view(launchRows);
  const found: NodeLaunch[] = [];
  for await (const { key: at, row } of view.each({ under: [tree, n] })) {
    const { prompt_ref, seq: frame, ...launch } = row;
    const prompt = await readText(world.kernel.content, prompt_ref);
    found.push({ ...launch, launch: Number([at].flat().at(-1)), prompt, frame });
  }
  return found;
}

/** The events of a tree, as they become durable. @throws RepriseError `cell_failed` */
export async function* readEvents(
  { kernel }: AgentWorld,
  { address }: TreeCell,
  options: TreeWatchOptions,
): AsyncGenerator<TreeEvent> {
  requireKnownOptions(options, { after: wholeFrom(-1), follow: aFlag, signal: aSignal }, 'tree.events');
  const { after = -1, follow = true, signal } = options;
  const last = follow ? Number.POSITIVE_INFINITY : kernel.head.seq;
  if (after + 1 > last) return;
  for await (const { seq: frame, at, records } of kernel.frames(after + 1, signal, follow ? [address] : [])) {
    for (const record of records) {
      const fact = treeFactIn(record);
      if (fact?.tree === address[1]) yield treeEventOf(fact, { frame, at });
    }
    if (frame >= last) return;
  }
}

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
