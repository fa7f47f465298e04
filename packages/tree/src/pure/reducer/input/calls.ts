/**
 * The calls of nodes: what an agent may do by its place in the tree. The caller is the sender of the event, which the
 * kernel vouches for; no argument names it.
 */
import type { OwnerCall, OwnerCalls } from '@reprise/agent/contracts';
import type { Value } from '@reprise/contracts';
import { type CallAnswer, type CallPlace, parsedCall, refusalAnswer, refusalBy } from '@reprise/org/contracts';
import { type CallOf, type Given, type NodeRow, type NodeTool, nodeCalls } from '../../contracts/index.js';
import { answerCall } from '../ask/ask-answers.js';
import { ask } from '../ask/asking.js';
import { answerFrom } from '../ask/outcome.js';
import { nodeActor } from '../delivery/actors.js';
import { numbers } from '../delivery/around.js';
import { sendAnswers } from '../delivery/collected-answers.js';
import type { Delivery } from '../delivery/delivery.js';
import { setDraft } from '../delivery/drafts.js';
import { isAbove, isEnded, type ReadNode } from '../delivery/nodes.js';
import { HINTS, Refused } from '../delivery/refused.js';
import { endNode } from '../node/end-node.js';
import { makeChild, makeSerial } from '../node/make.js';
import { checkGiven, resultGiven, wrongResult } from '../run/results.js';
import { passToApp } from './app-calls.js';
import { isOfMemory, useMemory } from './memory.js';
import { readNode, readTree } from './read.js';

type Handler<T extends NodeTool> = (
  delivery: Delivery,
  row: NodeRow,
  args: CallOf<T>,
  call: CallPlace,
) => CallAnswer | undefined;

const HANDLERS: { readonly [T in NodeTool]: Handler<T> } = {
  read_tree: (delivery, _row, args) => ({ value: readTree(delivery, args) }),
  read_node: (delivery, row, { node_id }) => readNode(delivery, row, node_id),
  spawn: (delivery, row, spec) => madeChild(delivery, makeChild(delivery, row, 'spawn', spec)),
  fork: (delivery, row, spec) => madeChild(delivery, makeChild(delivery, row, 'fork', spec)),
  serial: (delivery, parent, args) => {
    const { row, steps } = makeSerial(delivery, parent, args);
    return { value: { node_id: row.n, step_ids: steps.map(({ n }) => n) } };
  },
  complete: (delivery, row, args, call) => complete(delivery, row, args, call),
  ask: (delivery, row, args, call) => {
    ask(delivery, row, args, call);
    return undefined;
  },
  answer: (delivery, row, args) => {
    answerFrom(delivery, row, args);
    return { value: { accepted: true } };
  },
  stop: (delivery, row, { node_id }) => stopBelow(delivery, row, node_id),
};

/** The tools that a node may use although it has given its result. */
const READING: readonly string[] = ['read_tree', 'read_node'];

/**
 * Takes the calls of one step, in their order. What follows from one is passed on before the next is taken, as far as this
 * delivery may.
 */
export function takeCalls(
  delivery: Delivery,
  n: number,
  { session, step_epoch, calls }: OwnerCalls,
  passOn: (delivery: Delivery) => unknown,
): void {
  delivery.answers = { session, step_epoch, answers: [], bytes: 0 };
  for (const call of calls) {
    takeCall(delivery, delivery.nodes.change(n), { session, step_epoch, ...call });
    passOn(delivery);
  }
  sendAnswers(delivery);
  delivery.answers = undefined;
}

/** Takes a call, and answers it at once or later. What it may not do is answered as an error. */
export function takeCall(
  delivery: Delivery,
  row: NodeRow,
  { session, call_id, step_epoch, name, args }: OwnerCall,
): void {
  const call = { session, call_id, step_epoch };
  const refused = refusalBy(() => {
    if (!Object.hasOwn(HANDLERS, name)) {
      refuseWithoutRun(row, call);
      if (isOfMemory(delivery, name)) return useMemory(delivery, row, { ...call, name, args });
      return passToApp(delivery, row, { ...call, name, args });
    }
    const answer = handle(delivery, row, name as NodeTool, args, call);
    if (answer !== undefined) answerCall(delivery, call, answer);
  });
  if (refused !== undefined) answerCall(delivery, call, refusalAnswer(refused, HINTS));
}

function handle<T extends NodeTool>(
  delivery: Delivery,
  row: NodeRow,
  tool: T,
  args: Value,
  call: CallPlace,
): CallAnswer | undefined {
  if (!READING.includes(tool)) refuseWithoutRun(row, call);
  return HANDLERS[tool](delivery, row, parsedCall<unknown>(nodeCalls[tool].call, args) as CallOf<T>, call);
}

/** Refuses what only a run that is under way may do. */
function refuseWithoutRun(row: NodeRow, { session }: CallPlace): void {
  if (isEnded(row)) throw new Refused('node_ended');
  if (row.session !== session || (row.run !== 'live' && row.run !== 'waiting')) throw new Refused('stale_launch');
}

function madeChild(delivery: Delivery, row: NodeRow): CallAnswer {
  const waits = numbers(delivery, 'needs', row.n).filter((n) => !isEnded(delivery.nodes.at(n)));
  return { value: { node_id: row.n, status: row.status, waits_for: [...waits] } };
}

function complete(delivery: Delivery, row: NodeRow, args: CallOf<'complete'>, call: CallPlace): CallAnswer | undefined {
  if (row.answering) throw new Refused('illegal_transition');
  const given = givenBy(args);
  if (row.since > 0) {
    setDraft(delivery, row.n, { given, checked: false });
    return { value: { accepted: true, phase: 'waiting_children' } };
  }
  if (given === null) wrongResult(delivery, row, call, null);
  else if (row.returns === 'text' && given.kind === 'text' && row.schema_ref === null)
    resultGiven(delivery, row, call, given);
  else checkGiven(delivery, row, call, given);
  return undefined;
}

/** What a call of `complete` gave; null when it gave nothing. */
function givenBy({ text, value_ref, summary_ref }: CallOf<'complete'>): Given | null {
  const summary = summary_ref === undefined ? {} : { summary_ref };
  if (text !== undefined) return { ...text, kind: 'text', ...summary };
  return value_ref === undefined ? null : { ref: value_ref, kind: 'value', bytes: null, ...summary };
}

/** Stops a node below. One that its parent drops does not count as a child of this generation. */
function stopBelow(delivery: Delivery, row: NodeRow, n: number): CallAnswer {
  const target = delivery.nodes.get(n);
  if (target === undefined) throw new Refused('unknown_node', { node_id: n });
  if (!isAbove(delivery.nodes, row.n, n)) throw new Refused('not_your_subtree');
  if (isEnded(target)) throw new Refused('already_ended', { status: target.status });
  const affected = 1 + openBelow(delivery, target);
  if (target.parent === row.n && target.type !== 'ask' && row.since > 0) row.since--;
  const by = nodeActor(delivery, row.n);
  delivery.ctx.record('tree/Acted@1', { act: 'stop', n, by });
  endNode(delivery, n, { status: 'cancelled', code: 'stopped', by });
  return { value: { status: 'cancelled', affected } };
}

/** The nodes below one that have not ended; counted up to a bound. */
function openBelow(delivery: Delivery, { n }: ReadNode): number {
  let count = 0;
  const open = [n];
  for (let at = open.pop(); at !== undefined && count < COUNTED_MAX; at = open.pop()) {
    for (const child of numbers(delivery, 'children', at)) {
      if (isEnded(delivery.nodes.at(child))) continue;
      count++;
      open.push(child);
    }
  }
  return count;
}

const COUNTED_MAX = 1_000;
