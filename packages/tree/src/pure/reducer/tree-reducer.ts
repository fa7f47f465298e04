/**
 * `tree/Tree@1`: a goal that grows into a tree of nodes. Each node is a session that the tree owns.
 *
 * Invariants
 * T1  Every node ends through `endNode`, once.
 * T2  A node is launched only when it is pending, not paused, its needs have ended as its edges say, and no node above it
 *     has ended or is paused.
 * T3  Nothing is decided about a node while its own run is under way.
 * T4  A node is synthesized once for each generation of children, and never with an open child.
 * T5  `running` counts the nodes whose run is composing, live or draining; a run that waits for a person or another agent
 *     takes no slot.
 * T6  What comes back under another launch changes only what was spent.
 * T7  What is spent and set aside never exceeds the tree's budget at a launch.
 * T8  One delivery changes a bounded number of nodes; the rest is in the table `work`, and the cell sends itself
 *     `tree/Work@1`, so that the rest is passed on before any other input is taken.
 * T9  The graph of waits (needs, open children, open questions without a deadline) has no circle.
 */
import {
  childNotice,
  ownerAnswer,
  ownerCall,
  ownerCalls,
  ownerParked,
  SESSION_REDUCER,
} from '@reprise/agent/contracts';
import { NOTICES, present } from '@reprise/contracts';
import {
  by,
  creates,
  defineReducer,
  type EventHandlers,
  type EventValue,
  from,
  fromAll,
  handledBy,
  type ReducerContext,
  reducerOnUse,
} from '@reprise/kernel/define';
import { memoryEvents, memoryFacts, memoryNews, openStore } from '@reprise/memory/contracts';
import { actorIn, type MadeNews, makingEvents, makingNews } from '@reprise/work/contracts';
import {
  NODE_TOKENS,
  TREE,
  TREE_ENDED,
  TREE_LIMITS,
  TREE_NAME,
  type TreeCommandName,
  type TreeState,
  type TreeSupplies,
  treeCommands,
  treeFacts,
  treeNews,
  treeStart,
  treeState,
  treeTables,
  WORDS_KEY,
} from '../contracts/index.js';
import { supplyPlan } from '../plans/supply.js';
import { passBack } from './app-calls.js';
import { askTimer, questionComposed } from './asks.js';
import { takeCall, takeCalls } from './calls.js';
import { type Delivery, deliveryOf, tableOf } from './delivery.js';
import { AFTER_TIMER } from './drafts.js';
import { endNode, enterLine } from './end-node.js';
import { launchComposed, rightsNews } from './launch.js';
import { launchReady } from './line.js';
import { makeRoot } from './make.js';
import { isEnded } from './nodes.js';
import { childFailed, childNews, inputRefused, peopleAnswered, planFailed } from './notices.js';
import { COMMANDS } from './people.js';
import { Refused } from './refused.js';
import { endAfterResult, resultChecked } from './results.js';
import { restrictRefused } from './rights.js';
import { passOnWork } from './work.js';

const { 'tree/Work@1': rest, ...planNews } = treeNews;

/** The session of a node; its row is the node's number. */
const node = by.row('sessions', { reducer: SESSION_REDUCER });

/** The cell of the app to which the tree passes calls on. */
const app = by.cell({ state: 'calls' });

const EVENTS = {
  'tree/Start@1': creates(from(treeStart, by.any)), // each caller that the gate lets through becomes the starter
  ...fromAll(treeCommands, by.outside, by.cell({ state: 'starter' })),
  ...fromAll(planNews, by.ownPlan),
  'tree/Work@1': from(rest, by.self),
  'memory/Done@1': memoryEvents['memory/Done@1'],
  'aos.agent/OwnerCall@1': from(ownerCall, node),
  'aos.agent/OwnerCalls@1': from(ownerCalls, node),
  'aos.agent/OwnerAnswer@1': from(ownerAnswer, app),
  'aos.agent/OwnerParked@1': from(ownerParked, app),
  'aos.agent/ChildNotice@1': from(childNotice, node),
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'],
  ...makingEvents,
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
  'sys/Undeliverable@1': NOTICES['sys/Undeliverable@1'],
} as const;

type Events = typeof EVENTS;
type Start = EventValue<Events, 'tree/Start@1'>;

type Tables = typeof treeTables;

const HANDLERS: EventHandlers<TreeState, Events, Tables> = {
  'tree/Start@1': (draft, start, ctx) => {
    if (draft.start === null) return begin(draft, start, ctx);
    if (draft.start !== ctx.hash(start)) ctx.reject('already_started');
  },
  ...commandHandlers(),
  'tree/Supplied@1': fromPlan((delivery, { supplies, code }) => supplied(delivery, supplies, code)),
  'tree/Composed@1': fromPlan((delivery, value) => launchComposed(delivery, value)),
  'tree/Questioned@1': fromPlan((delivery, value) => questionComposed(delivery, value)),
  'tree/Checked@1': fromPlan((delivery, value) => resultChecked(delivery, value)),
  'tree/PeopleAnswered@1': fromPlan((delivery, value) => peopleAnswered(delivery, value)),
  'tree/Work@1': (draft, _, ctx) => deliver(draft, ctx, () => undefined),
  'aos.agent/OwnerCall@1': (draft, call, ctx, n) => {
    requireOwnRun(ctx, call.session);
    deliver(draft, ctx, (delivery) => takeCall(delivery, delivery.nodes.change(n), call));
  },
  'aos.agent/OwnerCalls@1': (draft, calls, ctx, n) => {
    requireOwnRun(ctx, calls.session);
    deliver(draft, ctx, (delivery) => takeCalls(delivery, n, calls, goOn));
  },
  'aos.agent/OwnerAnswer@1': (_draft, value, ctx) => passBack({ name: 'aos.agent/OwnerAnswer@1', value }, ctx),
  'aos.agent/OwnerParked@1': (_draft, value, ctx) => passBack({ name: 'aos.agent/OwnerParked@1', value }, ctx),
  'aos.agent/ChildNotice@1': (draft, notice, ctx, n) =>
    deliver(draft, ctx, (delivery) => childNews(delivery, delivery.nodes.change(n), notice, ctx.rowKey ?? '')),
  'sys/TimerFired@1': (draft, { name }, ctx) =>
    deliver(draft, ctx, (delivery) => {
      if (name === AFTER_TIMER) endAfterResult(delivery);
      else askTimer(delivery, name);
    }),
  'memory/Done@1': (_draft, value, ctx) => void memoryNews(ctx, { name: 'memory/Done@1', value }),
  'sys/PlanFailed@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => {
      if (memoryNews(ctx, { name: 'sys/PlanFailed@1', value }) === 'other')
        planFailed(delivery, value.plan[2], value.code);
    }),
  'sys/Reply@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => {
      const { tag = '', code = '' } = value;
      if (!taken(delivery, makingNews(ctx, { name: 'sys/Reply@1', value }))) inputRefused(delivery, tag, code);
    }),
  'sys/CommandRefused@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => {
      const { tag = '', code } = value;
      if (!taken(delivery, makingNews(ctx, { name: 'sys/CommandRefused@1', value })))
        restrictRefused(delivery, tag, code);
    }),
  'work/RightsStand@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => taken(delivery, makingNews(ctx, { name: 'work/RightsStand@1', value }))),
  'sys/ChildFailed@1': (draft, { cell }, ctx) => deliver(draft, ctx, (delivery) => childFailed(delivery, cell[1])),
  'sys/Undeliverable@1': () => undefined,
};

/** The reducer of trees: part of the app of every world with trees. */
export const treeReducer = reducerOnUse(TREE, () =>
  defineReducer({
    name: TREE,
    state: treeState,
    events: EVENTS,
    facts: { ...treeFacts, ...memoryFacts },
    tables: treeTables,
    init: (_key, event): TreeState => initial(event.value as Start),
    reduce: handledBy(HANDLERS),
  }),
);

function initial(start: Start): TreeState {
  const { limits, budget = USUAL_BUDGET, people = 'human', agent, labels = {}, calls = null, memory } = start;
  return {
    status: 'running',
    next: 1,
    running: 0,
    limits: { ...TREE_LIMITS, ...limits },
    budget,
    spent: { tokens: 0, micro_money: 0 },
    reserved: 0,
    asks: 0,
    people,
    agent: agent ?? '',
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

/** Takes the news of a session that gets its rights. @returns whether the event was about one */
function taken(delivery: Delivery, news: ReturnType<typeof makingNews>): boolean {
  if (news === 'other') return false;
  if (news !== undefined) rightsNews(delivery, news satisfies MadeNews);
  return true;
}

/** Begins the tree: with what was sent along, or with what the part of the world supplies. */
function begin(draft: TreeState, start: Start, ctx: ReducerContext): void {
  if (!TREE_NAME.test(ctx.address[1])) ctx.reject('invalid_name');
  draft.start = ctx.hash(start);
  draft.started = ctx.now;
  draft.starter = ctx.caller === null ? null : [...ctx.caller];
  const { limits, budget, labels } = draft;
  ctx.record('tree/Started@1', { goal: start.goal, limits, budget, labels, by: actorIn(ctx) });
  const { agents, words, memory } = start;
  if (memory?.write === true) openStore(ctx, memory.scope);
  const isWhole = agents !== undefined && words !== undefined;
  deliver(draft, ctx, (delivery) => {
    makeRoot(delivery, start);
    if (isWhole) supplied(delivery, { agents, words }, null);
    else ctx.emit({ plan: supplyPlan, input: memory === undefined ? {} : { memory: memory.write ? 'write' : 'read' } });
  });
}

/** Takes agents and texts; the root may begin now. */
function supplied(delivery: Delivery, supplies: TreeSupplies | null, code: string | null): void {
  const { state, ctx } = delivery;
  const root = delivery.nodes.change(1);
  if (isEnded(root) || root.launch > 0) return;
  if (supplies === null) return endNode(delivery, 1, { status: 'failed', code: code ?? 'no_agents' });
  tableOf(delivery, 'words').set(WORDS_KEY, supplies.words);
  for (const agent of supplies.agents) tableOf(delivery, 'agents').set(agent.name, agent);
  if (state.agent === '') state.agent = supplies.agents[0]?.name ?? '';
  if (tableOf(delivery, 'agents').get(state.agent) === undefined) {
    if (ctx.plan !== null) return endNode(delivery, 1, { status: 'failed', code: 'unknown_agent' });
    ctx.reject('unknown_agent');
  }
  root.agent = state.agent;
  enterLine(delivery, root);
}

/** Handles an event, passes on what follows from it, and launches what may begin. */
function deliver(state: TreeState, ctx: ReducerContext, act: (delivery: Delivery) => unknown): void {
  const { spent, reserved } = { spent: { ...state.spent }, reserved: state.reserved };
  const delivery = deliveryOf(state, ctx);
  act(delivery);
  const isLeft = goOn(delivery) || tableOf(delivery, 'work').size > 0;
  delivery.nodes.flush();
  const isSpent = spent.tokens !== state.spent.tokens || spent.micro_money !== state.spent.micro_money;
  if (isSpent || reserved !== state.reserved) {
    ctx.record('tree/Budget@1', { spent: { ...state.spent }, reserved: state.reserved });
  }
  if (isLeft) ctx.send(ctx.address, { name: 'tree/Work@1', value: {} });
  else endTree(delivery);
}

/** Passes on what follows, and launches what may begin. @returns whether some of it is left, because this delivery is full */
function goOn(delivery: Delivery): boolean {
  return passOnWork(delivery) || launchReady(delivery);
}

/** Ends the tree when its root has ended, and everything below it. */
function endTree({ state, nodes, ctx }: Delivery): void {
  const root = nodes.get(1);
  if (root === undefined || !isEnded(root) || state.ended !== null) return;
  state.ended = ctx.now;
  state.status = root.status as TreeState['status'];
  const ended = { status: state.status, code: root.code, result: root.result, spent: { ...state.spent } };
  ctx.record(TREE_ENDED, ended);
  const { starter } = state;
  if (starter === null || !ctx.takes(starter, TREE_ENDED)) return;
  const { code, result, ...rest } = ended;
  ctx.send(starter, {
    name: TREE_ENDED,
    value: present({ ...rest, code: code ?? undefined, result_ref: result?.ref }),
  });
}

/** The commands: a refusal undoes what the command did before it. */
function commandHandlers(): Pick<EventHandlers<TreeState, Events, Tables>, TreeCommandName> {
  const names = Object.keys(treeCommands) as TreeCommandName[];
  const handlers = names.map((name) => [
    name,
    (draft: TreeState, value: never, ctx: ReducerContext) => {
      try {
        deliver(draft, ctx, (delivery) => COMMANDS[name](delivery, value));
      } catch (error) {
        if (error instanceof Refused) ctx.reject(error.code);
        throw error;
      }
    },
  ]);
  return Object.fromEntries(handlers) as Pick<EventHandlers<TreeState, Events, Tables>, TreeCommandName>;
}

/** An event that a plan of the tree raises. */
function fromPlan<V>(act: (delivery: Delivery, value: V) => void) {
  return (draft: TreeState, value: V, ctx: ReducerContext): void =>
    deliver(draft, ctx, (delivery) => act(delivery, value));
}

/**
 * Refuses a call that names another session than the one it comes from, such as the one that replaced it: it would act by
 * a run that is not its own, and the other would get the answer.
 */
function requireOwnRun(ctx: ReducerContext, session: string): void {
  if (session !== ctx.rowKey) ctx.reject('not_yours');
}
