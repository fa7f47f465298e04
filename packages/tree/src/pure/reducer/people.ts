/** The commands of people, of the app, and of the cell that started the tree. */
import type { EventValue } from '@reprise/kernel/define';
import { actorIn } from '@reprise/work/contracts';
import type { NodeRow, TreeAct, treeCommands } from '../contracts/index.js';
import { retry } from './again.js';
import { answerOfPeople } from './asks.js';
import { type Delivery, tableOf } from './delivery.js';
import { endNode, enterLine, leaveLine, lineOf, waitAgain } from './end-node.js';
import { key } from './keys.js';
import { agentNames, makeChild } from './make.js';
import { isEnded } from './nodes.js';
import { Refused } from './refused.js';
import { narrowRights, refuseUnfitting } from './rights.js';
import { steer } from './runs.js';
import { addWork } from './work.js';

type Commands = typeof treeCommands;

/** What each command does. A refusal is thrown before anything is changed. */
export const COMMANDS: {
  readonly [N in keyof Commands]: (delivery: Delivery, value: EventValue<Commands, N>) => void;
} = {
  'tree/Stop@1': (delivery, { node }) => {
    const row = openNode(delivery, node, 'already_ended');
    acted(delivery, 'stop', node);
    endNode(delivery, row.n, { status: 'cancelled', code: 'stopped', by: actorIn(delivery.ctx) });
  },
  'tree/Pause@1': (delivery, { node }) => {
    const row = openNode(delivery, node, 'already_ended');
    if (row.paused || row.type === 'ask') throw new Refused('illegal_transition');
    row.paused = true;
    acted(delivery, 'pause', node);
    if (node === 1) delivery.state.status = 'paused';
    addWork(delivery, 'pause', node);
  },
  'tree/Resume@1': (delivery, { node }) => {
    const row = openNode(delivery, node, 'already_ended');
    if (!row.paused) throw new Refused('illegal_transition');
    row.paused = false;
    acted(delivery, 'resume', node);
    if (node === 1) delivery.state.status = 'running';
    addWork(delivery, 'resume', node);
  },
  'tree/Retry@1': (delivery, value) => {
    retry(delivery, value);
    acted(delivery, 'retry', value.node);
  },
  'tree/Add@1': (delivery, { parent: n, type, nodes }) => {
    const parent = openNode(delivery, n, 'node_ended');
    if (parent.type === 'ask' || parent.type === 'serial') throw new Refused('illegal_transition');
    for (const spec of nodes) makeChild(delivery, parent, type, spec);
    acted(delivery, 'add', n);
    waitAgain(delivery, parent);
  },
  'tree/Modify@1': modify,
  'tree/Restrict@1': (delivery, { node, rights }) => {
    const row = openNode(delivery, node, 'already_ended');
    if (row.type === 'ask') throw new Refused('illegal_transition');
    refuseUnfitting(delivery, row, rights);
    narrowRights(delivery, row, rights);
    acted(delivery, 'restrict', node);
    addWork(delivery, 'restrict', node);
  },
  'tree/Tell@1': (delivery, { node, text_ref }) => {
    const row = openNode(delivery, node, 'node_ended');
    if (row.type === 'ask' || row.type === 'serial') throw new Refused('illegal_transition');
    if (row.run === 'live' || row.run === 'waiting') {
      acted(delivery, 'tell', node);
      return steer(delivery, row, `tell.${delivery.ctx.id('tell')}`, text_ref);
    }
    const told = tableOf(delivery, 'told');
    const known = told.range({ from: `${key(node)}.w`, before: `${key(node)}.x` }).length;
    if (known >= TOLD_MAX) throw new Refused('too_many_open');
    const last =
      told
        .range({ from: `${key(node)}.w`, before: `${key(node)}.x` })
        .at(-1)?.[0]
        .slice(-4) ?? '0';
    told.set(`${key(node)}.w${String(Number(last) + 1).padStart(4, '0')}`, { text_ref, by: actorIn(delivery.ctx) });
    acted(delivery, 'tell', node);
  },
  'tree/Answer@1': (delivery, { ask, picked, text_ref }) => answerOfPeople(delivery, ask, { picked, text_ref }),
  'tree/Limit@1': (delivery, { limits, budget }) => {
    const { state, ctx } = delivery;
    if (limits !== undefined) Object.assign(state.limits, limits);
    if (budget !== undefined) state.budget.tree = budget;
    ctx.record('tree/Limited@1', { limits: { ...state.limits }, budget: state.budget.tree });
    acted(delivery, 'limit', null);
  },
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

function modify(delivery: Delivery, { node, ...change }: EventValue<Commands, 'tree/Modify@1'>): void {
  const row = openNode(delivery, node, 'node_ended');
  if (row.type === 'ask') throw new Refused('illegal_transition');
  if (row.run !== 'none' || (row.status !== 'pending' && !row.paused)) throw new Refused('is_active');
  if (change.agent !== undefined && tableOf(delivery, 'agents').get(change.agent) === undefined) {
    throw new Refused('unknown_agent', { agents: agentNames(delivery) });
  }
  const line = lineOf(delivery, row);
  leaveLine(delivery, row);
  if (change.agent !== undefined && change.agent !== row.agent) row.session = null;
  Object.assign(row, change);
  acted(delivery, 'modify', node);
  // It may stand there to answer only, whatever its status.
  if (line === 'ready') enterLine(delivery, row);
  if (line === 'held') tableOf(delivery, 'held').set(key(node), null);
}
