/**
 * The calls of nodes: what an agent may do by its place in the tree. The caller is the sender of the event, which the
 * kernel vouches for; no argument names it.
 */
import type { OwnerCall, OwnerCalls } from '@reprise/agent/contracts';
import { problemsOf, type Value } from '@reprise/contracts';
import { type CallOf, type CallPlace, type Given, type NodeRow, type NodeTool, nodeCalls } from '../contracts/index.js';
import { nodeActor } from './actors.js';
import { passToApp } from './app-calls.js';
import { answerCall } from './ask-answers.js';
import { answerFrom, ask } from './asks.js';
import { sendAnswers } from './collected-answers.js';
import type { Delivery } from './delivery.js';
import { setDraft } from './drafts.js';
import { endNode } from './end-node.js';
import { makeChild, makeSerial } from './make.js';
import { isOfMemory, useMemory } from './memory.js';
import { isAbove, isEnded, type ReadNode } from './nodes.js';
import { numbers } from './reach.js';
import { readNode, readTree } from './read.js';
import { Refused } from './refused.js';
import { checkGiven, resultGiven, wrongResult } from './results.js';

type Handler<T extends NodeTool> = (
  delivery: Delivery,
  row: NodeRow,
  args: CallOf<T>,
  call: CallPlace,
) => Answer | undefined;

/** The answer to a call; undefined when it comes later. */
interface Answer {
  readonly value: Value;
  readonly refs?: Parameters<typeof answerCall>[3] extends { readonly refs?: infer R } | undefined ? R : never;
}

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
  try {
    if (!Object.hasOwn(HANDLERS, name)) {
      refuseWithoutRun(row, call);
      if (isOfMemory(delivery, name)) return useMemory(delivery, row, { ...call, name, args });
      return passToApp(delivery, row, { ...call, name, args });
    }
    const answer = handle(delivery, row, name as NodeTool, args, call);
    if (answer !== undefined)
      answerCall(delivery, call, answer.value, answer.refs === undefined ? {} : { refs: answer.refs });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    answerCall(
      delivery,
      call,
      { code: error.code, ...error.details, hint: HINTS[error.code] ?? '' },
      { isError: true },
    );
  }
}

function handle(delivery: Delivery, row: NodeRow, tool: NodeTool, args: Value, call: CallPlace): Answer | undefined {
  if (!READING.includes(tool)) refuseWithoutRun(row, call);
  const parsed = nodeCalls[tool].safeParse(args);
  if (!parsed.success) throw new Refused('invalid_arguments', { problems: problemsOf(parsed.error.issues) });
  // The name determines the type of the arguments; TypeScript cannot express that for a union.
  return (HANDLERS[tool] as Handler<NodeTool>)(delivery, row, parsed.data as never, call);
}

/** Refuses what only a run that is under way may do. */
function refuseWithoutRun(row: NodeRow, { session }: CallPlace): void {
  if (isEnded(row)) throw new Refused('node_ended');
  if (row.session !== session || (row.run !== 'live' && row.run !== 'waiting')) throw new Refused('stale_launch');
}

function madeChild(delivery: Delivery, row: NodeRow): Answer {
  const waits = numbers(delivery, 'needs', row.n).filter((n) => !isEnded(delivery.nodes.at(n)));
  return { value: { node_id: row.n, status: row.status, waits_for: [...waits] } };
}

function complete(delivery: Delivery, row: NodeRow, args: CallOf<'complete'>, call: CallPlace): Answer | undefined {
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
function stopBelow(delivery: Delivery, row: NodeRow, n: number): Answer {
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

/** What a model can do about a refusal. */
const HINTS: Readonly<Record<string, string>> = {
  not_your_subtree: 'You may only stop nodes below your own. Ask your parent.',
  not_your_child: 'Ask "parent", "human", "children", or one of your children by its number.',
  would_deadlock: 'These nodes would wait for each other. Leave out the node that waits for you.',
  limit_depth: 'Do the work yourself.',
  limit_generations: 'Give your result now, from what you have.',
  limit_children: 'Give your result, and make more nodes when you are run again.',
  limit_nodes: 'Do the work yourself.',
  limit_asks: 'Decide by yourself, and say so in your result.',
  no_people: 'Nobody can be asked here. Decide by yourself, and say so in your result.',
  no_children: 'You have no children that could answer.',
  not_asked: 'Only the nodes that were asked may answer.',
  already_answered: 'Another answer came first. Go on with your own work.',
  unknown_node: 'Call read_tree for the nodes that exist.',
  over_budget: 'A child has at most your own budget.',
  not_permitted: 'The rights of your node do not permit this tool. Do without it, or ask.',
  illegal_transition: 'Answer the question with the tool answer.',
  node_ended: 'Your node has ended. End your turn.',
  stale_launch: 'This run has been replaced. End your turn.',
};
