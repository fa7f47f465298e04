/** The outcome of a question: answers of nodes and of people, and what counts when nobody answers. */
import { actorIn, key, pair } from '@reprise/org/contracts';
import { type Answered, type AskRow, type CallOf, FIXED_OPTIONS, type NodeRow } from '../../contracts/index.js';
import { nodeActor, nodesActor, wordsForModel } from '../delivery/actors.js';
import type { Delivery } from '../delivery/delivery.js';
import { Refused } from '../delivery/refused.js';
import { endNode } from '../node/end-node.js';
import { askOf, changeAsk } from './rows.js';

export function answerFrom(delivery: Delivery, by: NodeRow, { ask_id: n, picked, text_ref }: CallOf<'answer'>): void {
  const row = delivery.ctx.table('asks').get(key(n));
  if (row === undefined || (!row.route.includes(by.n) && row.outcome === null)) throw new Refused('not_asked');
  if (row.outcome !== null) throw tooLate(delivery, by.n, row, row.outcome);
  const chosen = chosenOf(row, picked);
  delivery.ctx.table('routes').delete(pair(by.n, n));
  if (row.target !== 'children') {
    return closeAsk(delivery, n, { how: 'answered', by: nodeActor(delivery, by.n), picked: chosen, text_ref });
  }
  const route = row.route.filter((one) => one !== by.n);
  const answers = [...row.answers, { by: by.n, text_ref, picked: chosen }];
  changeAsk(delivery, n, { ...row, route, answers });
  if (route.length === 0) closeAsk(delivery, n, answeredBy(delivery, answers));
}

/** The refusal of a second answer: a node that was asked is told who was first. */
function tooLate(delivery: Delivery, n: number, { route }: AskRow, { by, how }: Answered): Refused {
  if (!route.includes(n)) return new Refused('not_asked');
  return new Refused('already_answered', { status: how, ...(by === null ? {} : { by: wordsForModel(delivery, by) }) });
}

/** Takes the answer of people, whom every open question may get one from, or of a program that acts for its own. */
export function answerOfPeople(
  delivery: Delivery,
  n: number,
  { picked, text_ref }: { readonly picked: string | boolean | null; readonly text_ref: AskRow['text_ref'] },
): void {
  const row = delivery.ctx.table('asks').get(key(n));
  if (row === undefined) throw new Refused('unknown_node');
  if (row.outcome !== null) throw new Refused('already_answered');
  closeAsk(delivery, n, { how: 'answered', by: actorIn(delivery.ctx), picked: chosenOf(row, picked), text_ref });
}

/** The outcome of a question that nodes answered: their answers stand in its row, of which only one is the outcome's own. */
export function answeredBy(delivery: Delivery, answers: AskRow['answers']): Answered {
  const [first, ...more] = answers;
  const own = first !== undefined && more.length === 0 ? first : { picked: null, text_ref: null };
  const by = nodesActor(
    delivery,
    answers.map((one) => one.by),
  );
  return { how: 'answered', by, picked: own.picked, text_ref: own.text_ref };
}

/** What was chosen: one of the options, where there are some. */
function chosenOf({ options, returns }: AskRow, picked: string | boolean | null): string | null {
  const [yes, no] = FIXED_OPTIONS[returns] ?? ['yes', 'no'];
  const word = typeof picked === 'boolean' ? (picked ? yes : no) : picked;
  if (options.length > 0 && (word === null || !options.includes(word))) throw new Refused('not_an_option', { options });
  return word;
}

/** The outcome of a question that nobody answers: its default, or that the time is over. */
export function defaultOf({ default: given, options }: AskRow): Answered {
  const picked = given === null ? null : (options[given] ?? null);
  return { how: picked === null ? 'timed_out' : 'default', by: null, picked, text_ref: null };
}

/** Closes a question, and lets its asker have the outcome. */
export function closeAsk(delivery: Delivery, n: number, outcome: Answered): void {
  const { how } = outcome;
  changeAsk(delivery, n, { ...askOf(delivery, n), outcome });
  const ends = how === 'timed_out' ? { status: 'failed' as const, code: 'timed_out' } : { status: 'complete' as const };
  endNode(delivery, n, how === 'cancelled' ? { status: 'cancelled', code: 'asker_ended' } : ends);
}
