/** Who acts in a tree: its nodes as actors, and the words of actors for its models. */
import type { Actor, SingleActor } from '@reprise/contracts';
import { wordsForModel as wordsOfOthers } from '@reprise/org/contracts';
import type { Delivery } from './delivery.js';

/** A node as an actor: its id is the name of its tree, a slash, and its number. */
export function nodeActor({ ctx }: Pick<Delivery, 'ctx'>, n: number): SingleActor {
  return { kind: 'node', id: `${ctx.address[1]}/${n}` };
}

/** Nodes as one actor. At least one is given; a question has at most 64 of them. */
export function nodesActor(delivery: Pick<Delivery, 'ctx'>, numbers: readonly number[]): Actor {
  const [first, ...more] = numbers.map((n) => nodeActor(delivery, n));
  if (first === undefined) throw new Error('an answer has no answerer');
  return more.length === 0 ? first : { kind: 'several', of: [first, ...more] };
}

/** An actor in the words that a model of this tree reads: `#3` for its nodes, `ann (a person)`, `program nightly`. */
export function wordsForModel(delivery: Pick<Delivery, 'ctx'>, actor: Actor): string {
  if (actor.kind === 'several') return actor.of.map((one) => wordsForModel(delivery, one)).join(', ');
  const n = nodeOfActor(delivery.ctx.address[1], actor);
  return n === undefined ? wordsOfOthers(actor) : `#${n}`;
}

/** The number of the node that an actor is in a tree; undefined for every other actor. */
export function nodeOfActor(tree: string, actor: Actor): number | undefined {
  if (actor.kind !== 'node' || !actor.id.startsWith(`${tree}/`)) return undefined;
  const n = Number(actor.id.slice(tree.length + 1));
  return Number.isSafeInteger(n) ? n : undefined;
}

/** What a model reads beside an approval of nodes, a rule or a program. */
export const NO_SIGN_OFF = 'This is no approval of a person.';
