/** The start of a tree: with the agents and texts that were sent along, or with those that the part of its world supplies. */
import type { EventValue } from '@reprise/kernel/define';
import { actorIn, openStore, startFor, UNUSED } from '@reprise/org/contracts';
import {
  NODE_TOKENS,
  TREE_LIMITS,
  TREE_NAME,
  type TreeStart,
  type TreeState,
  type treeNews,
  useOfMemory,
  WORDS_KEY,
} from '../../contracts/index.js';
import { supplyPlan } from '../../plans/plans.js';
import type { Delivery, TreeContext } from '../delivery/delivery.js';
import { isEnded } from '../delivery/nodes.js';
import { endNode, enterLine } from '../node/end-node.js';
import { makeRoot } from '../node/make.js';
import { deliver } from '../run/deliver.js';

export function firstState(start: TreeStart): TreeState {
  const { limits, budget = USUAL_BUDGET, people = 'human', agent = '', labels = {}, calls = null, memory } = start;
  return {
    status: 'running',
    next: 1,
    running: 0,
    limits: { ...TREE_LIMITS, ...limits },
    budget,
    spent: { ...UNUSED },
    reserved: 0,
    asks: 0,
    people,
    agent,
    labels,
    calls,
    ...(memory === undefined ? {} : { memory }),
    starter: null,
    started: 0,
    ended: null,
    overdue: null,
    start: null,
  };
}

const USUAL_BUDGET = { unit: 'tokens', node: NODE_TOKENS, tree: null, stated: false } as const;

/** Starts the tree; the same start again changes nothing. */
export function start(state: TreeState, start: TreeStart, ctx: TreeContext): void {
  if (state.start === null) begin(state, start, ctx);
  else if (state.start !== ctx.hash(start)) ctx.reject('already_started');
}

function begin(state: TreeState, start: TreeStart, ctx: TreeContext): void {
  if (!TREE_NAME.test(ctx.address[1])) ctx.reject('invalid_name');
  state.start = ctx.hash(start);
  state.started = ctx.now;
  state.starter = ctx.caller === null ? null : [...ctx.caller];
  const { limits, budget, labels } = state;
  ctx.record('tree/Started@1', { goal: start.goal, limits, budget, labels, by: actorIn(ctx) });
  if (start.memory?.write === true) openStore(ctx, start.memory.scope);
  deliver(state, ctx, (delivery) => {
    makeRoot(delivery, start);
    supply(delivery, start);
  });
}

/** Takes the agents and texts that were sent along, or obtains them from the part of the world. */
function supply(delivery: Delivery, { agents, words, memory }: TreeStart): void {
  if (agents !== undefined && words !== undefined) {
    return supplied(delivery, { supplies: { agents, words }, code: null });
  }
  const intent = { plan: supplyPlan, input: useOfMemory(memory) };
  startFor(delivery.ctx, delivery.ctx.table('plans'), intent, { of: 'agents' });
}

/** Takes agents and texts; the root may begin now. */
export function supplied(delivery: Delivery, { supplies, code }: EventValue<typeof treeNews, 'tree/Supplied@1'>): void {
  const { state, ctx } = delivery;
  const root = delivery.nodes.change(1);
  if (isEnded(root) || root.launch > 0) return;
  if (supplies === null) return endNode(delivery, 1, { status: 'failed', code: code ?? 'no_agents' });
  ctx.table('words').set(WORDS_KEY, supplies.words);
  const agents = ctx.table('agents');
  for (const agent of supplies.agents) agents.set(agent.name, agent);
  if (state.agent === '') state.agent = supplies.agents[0]?.name ?? '';
  if (agents.get(state.agent) === undefined) {
    if (ctx.plan !== null) return endNode(delivery, 1, { status: 'failed', code: 'unknown_agent' });
    ctx.reject('unknown_agent');
  }
  root.agent = state.agent;
  enterLine(delivery, root);
}
