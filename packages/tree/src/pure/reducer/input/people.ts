/** The commands of people, of the app, and of the cell that started the tree. */
import type { EventValue } from '@reprise/kernel/define';
import { actorIn, key } from '@reprise/org/contracts';
import type { NodeRow, TreeAct, TreeState, treeCommands } from '../../contracts/index.js';
import { answerOfPeople } from '../ask/outcome.js';
import type { Delivery, TreeContext } from '../delivery/delivery.js';
import { isEnded } from '../delivery/nodes.js';
import { Refused } from '../delivery/refused.js';
import { retry } from '../node/again.js';
import { addWork, endNode, enterLine, leaveLine, lineOf, waitAgain } from '../node/end-node.js';
import { makeChild, refuseUnknownAgent } from '../node/make.js';
import { narrowRights, refuseUnfitting } from '../node/rights.js';
import { steer } from '../node/runs.js';
import { byCommand } from '../run/deliver.js';

type Commands = typeof treeCommands;

/** What each command does. A refusal is thrown before anything is changed. */
export const COMMANDS: {
  readonly [N in keyof Commands]: (state: TreeState, value: EventValue<Commands, N>, ctx: TreeContext) => void;
} = {
  'tree/Stop@1': byCommand((delivery, { node }) => {
    const row = openNode(delivery, node, 'already_ended');
    acted(delivery, 'stop', node);
    endNode(delivery, row.n, { status: 'cancelled', code: 'stopped', by: actorIn(delivery.ctx) });
  }),
  'tree/Pause@1': byCommand((delivery, { node }) => pause(delivery, node, 'pause')),
  'tree/Resume@1': byCommand((delivery, { node }) => pause(delivery, node, 'resume')),
  'tree/Retry@1': byCommand((delivery, value) => {
    retry(delivery, value);
    acted(delivery, 'retry', value.node);
  }),
  'tree/Add@1': byCommand((delivery, { parent: n, type, nodes }) => {
    const parent = openNode(delivery, n, 'node_ended');
    if (parent.type === 'ask' || parent.type === 'serial') throw new Refused('illegal_transition');
    for (const spec of nodes) makeChild(delivery, parent, type, spec);
    acted(delivery, 'add', n);
    waitAgain(delivery, parent);
  }),
  'tree/Modify@1': byCommand(modify),
  'tree/Restrict@1': byCommand((delivery, { node, rights }) => {
    const row = openNode(delivery, node, 'already_ended');
    if (row.type === 'ask') throw new Refused('illegal_transition');
    refuseUnfitting(delivery, row, rights);
    narrowRights(delivery, row, rights);
    acted(delivery, 'restrict', node);
    addWork(delivery, 'restrict', node);
  }),
  'tree/Tell@1': byCommand((delivery, { node, text_ref }) => {
    const row = openNode(delivery, node, 'node_ended');
    if (row.type === 'ask' || row.type === 'serial') throw new Refused('illegal_transition');
    if (row.run === 'live' || row.run === 'waiting') {
      acted(delivery, 'tell', node);
      return steer(delivery, row, `tell.${delivery.ctx.id('tell')}`, text_ref);
    }
    const told = delivery.ctx.table('told');
    const known = told.range({ from: `${key(node)}.w`, before: `${key(node)}.x`, limit: TOLD_MAX });
    if (known.length === TOLD_MAX) throw new Refused('too_many_open');
    const last = known.at(-1)?.[0].slice(-4) ?? '0';
    told.set(`${key(node)}.w${String(Number(last) + 1).padStart(4, '0')}`, { text_ref, by: actorIn(delivery.ctx) });
    acted(delivery, 'tell', node);
  }),
  'tree/Answer@1': byCommand((delivery, { ask, picked, text_ref }) =>
    answerOfPeople(delivery, ask, { picked, text_ref }),
  ),
  'tree/Limit@1': byCommand((delivery, { limits, budget }) => {
    const { state, ctx } = delivery;
    if (limits !== undefined) Object.assign(state.limits, limits);
    if (budget !== undefined) state.budget.tree = budget;
    ctx.record('tree/Limited@1', { limits: { ...state.limits }, budget: state.budget.tree });
    acted(delivery, 'limit', null);
  }),
};

/** States who did what, once nothing of it can be refused any more. */
function acted(delivery: Delivery, act: TreeAct, n: number | null): void {
  delivery.ctx.record('tree/Acted@1', { act, n, by: actorIn(delivery.ctx) });
}

/** How many texts of people wait for the next prompt of a node. */
const TOLD_MAX = 32;

function openNode(delivery: Delivery, n: number, code: 'already_ended' | 'node_ended'): NodeRow {
  if (delivery.nodes.get(n) === undefined) throw new Refused('unknown_node');
  const row = delivery.nodes.change(n);
  if (isEnded(row)) throw new Refused(code);
  return row;
}

function pause(delivery: Delivery, n: number, act: 'pause' | 'resume'): void {
  const row = openNode(delivery, n, 'already_ended');
  const pauses = act === 'pause';
  if (row.paused === pauses || row.type === 'ask') throw new Refused('illegal_transition');
  row.paused = pauses;
  acted(delivery, act, n);
  if (n === 1) delivery.state.status = pauses ? 'paused' : 'running';
  addWork(delivery, act, n);
}

function modify(delivery: Delivery, { node, ...change }: EventValue<Commands, 'tree/Modify@1'>): void {
  const row = openNode(delivery, node, 'node_ended');
  if (row.type === 'ask') throw new Refused('illegal_transition');
  if (row.run !== 'none' || (row.status !== 'pending' && !row.paused)) throw new Refused('is_active');
  refuseUnknownAgent(delivery, change.agent);
  const line = lineOf(delivery, row);
  leaveLine(delivery, row);
  if (change.agent !== undefined && change.agent !== row.agent) row.session = null;
  Object.assign(row, change);
  acted(delivery, 'modify', node);
  // It may stand there to answer only, whatever its status.
  if (line === 'ready') enterLine(delivery, row);
  if (line === 'held') delivery.ctx.table('held').set(key(node), null);
}
