/** What people do to a tree: answer, stop, pause, resume, retry, add, tell. Each is done once for each id. */

import type { AnyAgent } from '@reprise/agent';
import { type Actor, isRepriseError, type Principal, present, RepriseError, type Value } from '@reprise/contracts';
import { type Answering, type Done, type Money, type Trees, wordsOfActor } from '@reprise/tree';
import { escapeLine } from '../text/escape.js';

const ACTS = ['answer', 'stop', 'pause', 'resume', 'retry', 'add', 'tell'] as const;

export type ActVerb = (typeof ACTS)[number];

/** An act on a node of a tree. */
export interface Act {
  readonly verb: ActVerb;
  readonly tree: string;
  readonly n: number;
  /** The answer, the goal of a child, or the words to a node. */
  readonly text?: string;
  /** Of a retry: another agent, a new session, and what the node may use. */
  readonly agent?: string;
  readonly fresh?: true;
  readonly budget?: Money;
  readonly as?: string;
  /** Who acts, where that is not the person of `as`. */
  readonly actor?: Actor;
  /** Acts with one id are one act. */
  readonly id: string;
}

/** What became of an act. */
export type ActDone = Done | Answering | { readonly status: 'accepted'; readonly node: number };

/** What an act is done by: the trees of a world, and the agents that their nodes may have. */
export interface ActParts {
  readonly trees: Trees;
  readonly agents: readonly AnyAgent[];
}

/** Performs an act in the process that has the world. */
export async function performAct({ trees, agents }: ActParts, act: Act): Promise<ActDone> {
  const { verb, n, text = '', fresh, budget, id } = act;
  const tree = trees.tree(act.tree);
  const by = { id, ...present({ as: act.as as Principal | undefined, actor: act.actor }) };
  switch (verb) {
    case 'answer':
      return tree.answer(n, text, by);
    case 'stop':
      return tree.stop(n, by);
    case 'pause':
      return tree.pause(n, by);
    case 'resume':
      return tree.resume(n, by);
    case 'retry':
      return tree.retry(n, {
        ...by,
        ...(act.agent === undefined ? {} : { agent: agentNamed(agents, act.agent) }),
        ...(fresh === true ? { fresh } : {}),
        ...(budget === undefined ? {} : { budget }),
      });
    case 'tell':
      return tree.tell(n, text, by);
    case 'add':
      return addTo(tree, n, text, by);
  }
}

/** The agent with a name. @throws RepriseError `unknown_agent` */
function agentNamed(agents: readonly AnyAgent[], name: string): AnyAgent {
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  throw new RepriseError('unknown_agent', 'the tree has no such agent', {
    where: '--agent',
    expected: agents.map((agent) => agent.name).join(', '),
    actual: name,
    hint: 'A tree has the worker, and the agent that it was started with: reprise tree run --agent NAME.',
  });
}

async function addTo(
  tree: ReturnType<Trees['tree']>,
  n: number,
  goal: string,
  by: { readonly id: string; readonly as?: Principal; readonly actor?: Actor },
): Promise<ActDone> {
  try {
    return { status: 'accepted', ...(await tree.add(n, { goal }, by)) };
  } catch (error) {
    const { reason } = isRepriseError(error, 'request_rejected') ? error.details : {};
    if (typeof reason !== 'string') throw error;
    return { status: 'rejected', code: reason as never };
  }
}

/**
 * Reads an act that another process sent.
 *
 * @throws RepriseError `invalid_argument`
 */
export function readAct(verb: string, args: Value): Act {
  const act = args as unknown as Act | null;
  const isAct = ACTS.some((known) => known === verb) && typeof act?.tree === 'string' && Number.isSafeInteger(act.n);
  if (isAct && typeof act.id === 'string') return { ...act, verb: verb as ActVerb };
  throw new RepriseError('invalid_argument', 'this is no act on a tree', { actual: verb, expected: ACTS.join(', ') });
}

const REFUSALS: Readonly<Record<string, string>> = {
  not_started: 'the tree has not started',
  not_yours: 'this principal may not act on the tree',
  unknown_node: 'the tree has no such node',
  unknown_agent: 'the tree has no such agent',
  node_ended: 'the node has ended',
  tree_ended: 'the tree has ended',
  not_ended: 'the node has not ended: stop it first, or tell it something',
  ancestor_ended: 'a node above it has ended: try that one again',
  already_ended: 'the node has ended already',
  is_active: 'the node runs: tell it something',
  illegal_transition: 'the node is in a state in which this cannot be done',
  would_deadlock: 'the node would wait for itself',
  limit_depth: 'the tree has as many levels as it may have',
  limit_nodes: 'the tree has as many nodes as it may have',
  limit_children: 'the node has as many children as it may have',
  limit_generations: 'the node has made children as often as it may',
  over_budget: 'the budget of the tree does not allow it',
  not_asked: 'this is not the number of an open question to people',
  not_an_option: 'this is not one of the options',
};

function wordsOfRefusal(code: string): string {
  return REFUSALS[code] ?? 'the tree refuses it';
}

/** Who was first, in words. */
function settledWords(tree: string, actor: Actor | undefined): string {
  if (actor === undefined) return 'the question ended without an answer';
  return `the question was answered by ${escapeLine(wordsOfActor({ name: tree }, actor))}`;
}

const DONE: Readonly<Record<ActVerb, string>> = {
  answer: 'answered',
  stop: 'stopped',
  pause: 'paused',
  resume: 'resumed',
  retry: 'is tried again',
  add: 'added',
  tell: 'was told',
};

/** What became of an act that was accepted or refused, in a line. */
export function wordsOfDone(verb: ActVerb, tree: string, n: number, done: ActDone): string {
  if (done.status === 'rejected') return `${done.code}: ${wordsOfRefusal(done.code)}`;
  if (done.status === 'already_settled') return `already_settled: ${settledWords(tree, done.actor)}`;
  if ('node' in done) return `${tree}/#${done.node} added below #${n}`;
  const others = done.affected.filter((one) => one !== n);
  const more = others.length === 0 ? '' : `; changed as well: ${others.map((one) => `#${one}`).join(', ')}`;
  return `${tree}/#${n} ${DONE[verb]}${more}`;
}
