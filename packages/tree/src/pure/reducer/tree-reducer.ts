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
 *     `org/Rest@1`, so that the rest is passed on before any other input is taken.
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
import { NOTICES } from '@reprise/contracts';
import {
  by,
  creates,
  defineReducer,
  type EventHandlers,
  from,
  fromAll,
  handledBy,
  reducerOnUse,
} from '@reprise/kernel/define';
import { makingEvents, makingNews, memoryEvents, memoryFacts, memoryNews, restEvent } from '@reprise/org/contracts';
import {
  TREE,
  type TreeState,
  treeCommands,
  treeFacts,
  treeNews,
  treeStart,
  treeState,
  treeTables,
} from '../contracts/index.js';
import { questionComposed } from './ask/route.js';
import type { TreeContext } from './delivery/delivery.js';
import { passBack } from './input/app-calls.js';
import { takeCall, takeCalls } from './input/calls.js';
import { childFailed, childNews, inputRefused, peopleAnswered, planFailed, timerFired } from './input/notices.js';
import { COMMANDS } from './input/people.js';
import { firstState, start, supplied } from './input/start.js';
import { restrictRefused } from './node/rights.js';
import { deliver, fromPlan, goOn } from './run/deliver.js';
import { launchComposed, rightsNews } from './run/launch.js';
import { resultChecked } from './run/results.js';

/** The session of a node; its row is the node's number. */
const node = by.row('sessions', { reducer: SESSION_REDUCER });

/** The cell of the app to which the tree passes calls on. */
const app = by.cell({ state: 'calls' });

const EVENTS = {
  'tree/Start@1': creates(from(treeStart, by.any)), // each caller that the gate lets through becomes the starter
  ...fromAll(treeCommands, by.outside, by.cell({ state: 'starter' })),
  ...fromAll(treeNews, by.ownPlan),
  ...restEvent,
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

const HANDLERS: EventHandlers<TreeState, typeof EVENTS, typeof treeTables> = {
  'tree/Start@1': start,
  ...COMMANDS,
  'tree/Supplied@1': fromPlan(supplied),
  'tree/Composed@1': fromPlan(launchComposed),
  'tree/Questioned@1': fromPlan(questionComposed),
  'tree/Checked@1': fromPlan(resultChecked),
  'tree/PeopleAnswered@1': fromPlan(peopleAnswered),
  'org/Rest@1': (draft, _, ctx) => deliver(draft, ctx, () => undefined),
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
  'sys/TimerFired@1': (draft, { name }, ctx) => deliver(draft, ctx, (delivery) => timerFired(delivery, name)),
  'memory/Done@1': (_draft, value, ctx) => void memoryNews(ctx, { name: 'memory/Done@1', value }),
  'sys/PlanFailed@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => {
      const isOfMemory = memoryNews(ctx, { name: 'sys/PlanFailed@1', value }) !== 'other';
      if (!isOfMemory) planFailed(delivery, value.plan[2], value.code);
    }),
  'sys/Reply@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => {
      const { tag = '', code = '' } = value;
      const isOfRights = rightsNews(delivery, makingNews(ctx, { name: 'sys/Reply@1', value }));
      if (!isOfRights) inputRefused(delivery, tag, code);
    }),
  'sys/CommandRefused@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => {
      const { tag = '', code } = value;
      const isOfRights = rightsNews(delivery, makingNews(ctx, { name: 'sys/CommandRefused@1', value }));
      if (!isOfRights) restrictRefused(delivery, tag, code);
    }),
  'work/RightsStand@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => rightsNews(delivery, makingNews(ctx, { name: 'work/RightsStand@1', value }))),
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
    // A start is the only event that makes a tree.
    init: (_key, event): TreeState => firstState(event.value as Parameters<typeof firstState>[0]),
    reduce: handledBy(HANDLERS),
  }),
);

/**
 * Refuses a call that names another session than the one it comes from, such as the one that replaced it: it would act by
 * a run that is not its own, and the other would get the answer.
 */
function requireOwnRun(ctx: TreeContext, session: string): void {
  if (session !== ctx.rowKey) ctx.reject('not_yours');
}
