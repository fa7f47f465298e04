/** Making nodes: the root, children by agents and people, and the steps of a serial. */

import { allRows } from '@reprise/kernel/define';
import { pair } from '@reprise/org/contracts';
import type { CallOf, Need, RecordedNodeSpec, TreeStart } from '../../contracts/index.js';
import type { Edge, NodeRow } from '../../contracts/node.js';
import { numbers } from '../delivery/around.js';
import type { Delivery } from '../delivery/delivery.js';
import { isEnded } from '../delivery/nodes.js';
import { pathToEnd } from '../delivery/reach.js';
import { Refused } from '../delivery/refused.js';
import { unitOf } from '../delivery/spending.js';
import { addWork, enterLine } from './end-node.js';
import { narrowRights, refuseUnfitting } from './rights.js';

/** Makes the root, which may begin at once. */
export function makeRoot(
  delivery: Delivery,
  { goal, prompt_ref, returns = 'text', schema_ref, rights }: TreeStart,
): NodeRow {
  const row = newRow(delivery, { type: 'goal', parent: null, goal, returns });
  const { budget, agent } = delivery.state;
  narrowRights(delivery, row, rights);
  return Object.assign(row, { prompt_ref, schema_ref: schema_ref ?? null, agent, budget: budget.node });
}

/** Makes a child of a node, for its agent or for people. */
export function makeChild(
  delivery: Delivery,
  parent: NodeRow,
  type: 'spawn' | 'fork',
  spec: RecordedNodeSpec,
): NodeRow {
  refuseBeyondLimits(delivery, parent, 1);
  const edges = edgesOf(delivery, parent, spec.blocked_by ?? []);
  const agent = agentFor(delivery, parent, spec.agent);
  const budget = budgetFor(delivery, parent, spec);
  refuseUnfitting(delivery, parent, spec.rights);
  const row = newChild(delivery, parent, { type, goal: spec.goal, returns: spec.returns ?? 'text' });
  const { prompt_ref, schema_ref = null, priority = 0, timeout_ms = null } = spec;
  Object.assign(row, { prompt_ref, schema_ref, priority, timeout_ms, agent, budget });
  narrowRights(delivery, row, spec.rights);
  addNeeds(delivery, row, edges);
  return row;
}

/** Makes a serial, and its steps, each of which needs the one before. */
export function makeSerial(
  delivery: Delivery,
  parent: NodeRow,
  args: CallOf<'serial'>,
): { row: NodeRow; steps: NodeRow[] } {
  refuseBeyondLimits(delivery, parent, args.steps.length + 1);
  if (parent.depth + 2 > delivery.state.limits.depth)
    throw new Refused('limit_depth', { max: delivery.state.limits.depth });
  const first = edgesOf(delivery, parent, args.blocked_by ?? []);
  const agents = args.steps.map(({ agent }) => agentFor(delivery, parent, agent));
  const returns = args.result === 'list' ? 'list' : (args.steps.at(-1)?.returns ?? 'text');
  const row = newChild(delivery, parent, { type: 'serial', goal: args.goal, returns });
  row.serial = args.result ?? 'last';
  row.agent = parent.agent;
  row.budget = parent.budget;
  row.status = 'waiting_children';
  const steps: NodeRow[] = [];
  for (const [i, { goal, prompt_ref, returns = 'text', schema_ref = null }] of args.steps.entries()) {
    const step = newChild(delivery, row, { type: 'spawn', goal, returns });
    Object.assign(step, { prompt_ref, schema_ref, agent: agents[i], budget: budgetFor(delivery, parent, {}) });
    const before = steps.at(-1);
    addNeeds(delivery, step, before === undefined ? first : [[before.n, { view: 'full', on_failure: 'block' }]]);
    steps.push(step);
  }
  return { row, steps };
}

type NewNode = Pick<NodeRow, 'type' | 'goal' | 'returns'>;

function newChild(delivery: Delivery, parent: NodeRow, node: NewNode): NodeRow {
  parent.since++;
  parent.open++;
  return newRow(delivery, { ...node, parent });
}

/** A new node with the next number. */
export function newRow(
  delivery: Delivery,
  { parent, ...node }: NewNode & { readonly parent: NodeRow | null },
): NodeRow {
  const { state, nodes } = delivery;
  if (nodes.size >= state.limits.nodes) throw new Refused('limit_nodes', { max: state.limits.nodes });
  const n = state.next++;
  delivery.changes++;
  if (parent !== null) delivery.ctx.table('children').set(pair(parent.n, n), null);
  return nodes.add({
    ...NEW_NODE,
    ...node,
    n,
    parent: parent?.n ?? null,
    depth: (parent?.depth ?? 0) + 1,
    spent: { tokens: 0, micro_money: 0 },
  });
}

const NEW_NODE: Omit<NodeRow, keyof NewNode | 'n' | 'parent' | 'depth' | 'spent'> = {
  prompt_ref: null,
  schema_ref: null,
  agent: '',
  priority: 0,
  status: 'pending',
  paused: false,
  phase: 'work',
  gen: 0,
  since: 0,
  open: 0,
  unmet: 0,
  attempt: 1,
  launch: 0,
  session: null,
  runs: 0,
  sessions: 0,
  run: 'none',
  answering: false,
  plan: null,
  asks: 0,
  unfinished: null,
  result: null,
  code: null,
  wrong: 0,
  budget: null,
  reserved: 0,
  timeout_ms: null,
  serial: null,
};

function refuseBeyondLimits({ state, nodes }: Delivery, parent: NodeRow, more: number): void {
  const { limits } = state;
  if (parent.depth >= limits.depth) throw new Refused('limit_depth', { max: limits.depth });
  if (parent.gen >= limits.generations) throw new Refused('limit_generations', { max: limits.generations });
  if (parent.since >= limits.children) throw new Refused('limit_children', { max: limits.children });
  if (nodes.size + more > limits.nodes) throw new Refused('limit_nodes', { max: limits.nodes });
}

function agentFor(delivery: Delivery, parent: NodeRow, name: string | undefined): string {
  refuseUnknownAgent(delivery, name);
  return name ?? parent.agent;
}

export function refuseUnknownAgent({ ctx }: Delivery, name: string | undefined): void {
  const agents = ctx.table('agents');
  if (name === undefined || agents.get(name) !== undefined) return;
  throw new Refused('unknown_agent', { agents: [...allRows(agents)].map(([known]) => known) });
}

/** A child has at most its parent's budget. */
function budgetFor(
  delivery: Delivery,
  parent: NodeRow,
  { budget: asked, unit }: Pick<RecordedNodeSpec, 'budget' | 'unit'>,
): number | null {
  if (asked !== undefined && unit !== undefined && unit !== unitOf(delivery)) {
    throw new Refused('wrong_unit', { unit: unitOf(delivery) });
  }
  if (asked !== undefined && parent.budget !== null && asked > parent.budget) {
    throw new Refused('over_budget', { max: parent.budget, unit: unitOf(delivery) });
  }
  const usual = delivery.state.budget.node ?? parent.budget;
  return asked ?? (usual === null ? parent.budget : Math.min(usual, parent.budget ?? usual));
}

type Edges = readonly (readonly [need: number, edge: Edge])[];

/** The edges of a new node, whose parent must not be waited for by any of them. */
function edgesOf(delivery: Delivery, parent: NodeRow, needs: readonly Need[]): Edges {
  const edges = new Map<number, Edge>();
  for (const need of needs) {
    const { node, view = 'full', on_failure = 'block' } = typeof need === 'number' ? { node: need } : need;
    const needed = delivery.nodes.get(node);
    if (needed === undefined || needed.type === 'ask') throw new Refused('unknown_node', { node_id: node });
    const path = pathToEnd(delivery, node, parent.n);
    if (path !== undefined) throw new Refused('would_deadlock', { path: [...path] });
    edges.set(node, { view, on_failure });
  }
  return [...edges];
}

/** Adds the edges of a node, which is put into the line, or waits, or is blocked at once. */
function addNeeds(delivery: Delivery, row: NodeRow, edges: Edges): void {
  for (const [need, edge] of edges) {
    delivery.ctx.table('needs').set(pair(row.n, need), edge);
    delivery.ctx.table('dependents').set(pair(need, row.n), null);
  }
  if (edges.length > 0) delivery.ctx.record('tree/Needs@1', { n: row.n, needs: edges.map(([need]) => need) });
  takeStock(delivery, row);
}

/**
 * Counts the needs of a pending node that are open, and puts it into the line when no need is open. A node that needs one which has
 * failed already ends when what is to be passed on is passed on.
 */
export function takeStock(delivery: Delivery, row: NodeRow): void {
  row.unmet = 0;
  let failed: number | undefined;
  let isBlocked = false;
  for (const need of numbers(delivery, 'needs', row.n)) {
    const needed = delivery.nodes.at(need);
    const edge = delivery.ctx.table('needs').get(pair(row.n, need));
    if (!isEnded(needed)) row.unmet++;
    else if (needed.status !== 'complete') {
      failed ??= need;
      if (edge?.on_failure !== 'continue') isBlocked = true;
    }
  }
  if (isBlocked && failed !== undefined) addWork(delivery, 'blocked', row.n, { at: `${pair(failed, row.n)}.blocked` });
  else if (row.unmet === 0) enterLine(delivery, row);
}
