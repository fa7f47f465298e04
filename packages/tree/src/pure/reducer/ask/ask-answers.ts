/** What an asking node receives: an answer in its call, or in its next prompt. */

import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { Actor } from '@reprise/contracts';
import type { CallAnswer, CallPlace } from '@reprise/org/contracts';
import type { AskRow, NodeRow } from '../../contracts/node.js';
import { NO_SIGN_OFF, wordsForModel } from '../delivery/actors.js';
import { unpassed } from '../delivery/around.js';
import { giveAnswer } from '../delivery/collected-answers.js';
import type { Delivery } from '../delivery/delivery.js';
import { changeAsk } from './rows.js';

/** The bound on links of one answer. */
const REFS_MAX = 8;

export function answerCall(
  delivery: Pick<Delivery, 'ctx' | 'answers'>,
  call: CallPlace,
  { value, refs = [], is_error = false }: CallAnswer,
): void {
  giveAnswer(delivery, { ...placeOf(call), value, refs: refs.slice(0, REFS_MAX), is_error });
}

/** Tells a session that a call waits for a person or another agent. */
export function parkCall({ ctx }: Pick<Delivery, 'ctx'>, call: CallPlace): void {
  ctx.send([SESSION_REDUCER, call.session], { name: 'aos.agent/OwnerParked@1', value: placeOf(call) });
}

function placeOf({ session, call_id, step_epoch }: CallPlace): CallPlace {
  return { session, call_id, step_epoch };
}

/** Answers the calls of a node that has a slot again: of all its questions with an outcome. */
export function answerParked(delivery: Delivery, row: NodeRow): void {
  for (const [n, ask] of unpassed(delivery, row.n)) if (ask.call !== null) passOn(delivery, n, ask, ask.call);
}

/** Passes the outcome of a question on to the call that waits for it. */
export function passOn(delivery: Delivery, n: number, ask: AskRow, call: CallPlace): void {
  const { outcome, answers } = ask;
  if (outcome === null) return;
  const { how, by, picked, text_ref } = outcome;
  const texts = answers.map((one) => ({ label: `#${one.by}`, ref: one.text_ref }));
  const refs = text_ref === null ? texts : [{ label: 'answer', ref: text_ref }, ...texts];
  const given = picked === null ? {} : { answer: picked };
  const all =
    answers.length > 0 ? { answers: Object.fromEntries(answers.map((one) => [`#${one.by}`, one.picked])) } : {};
  const value = { ask_id: n, status: how, ...given, ...all, ...(by === null ? {} : byWords(delivery, ask, by)) };
  answerCall(delivery, call, { value, refs });
  changeAsk(delivery, n, { ...ask, call: null, passed: true });
}

/** Who answered, in words. An approval that is not a person's says so: only people can sign something off. */
function byWords(delivery: Delivery, { returns }: AskRow, by: Actor): { readonly by: string; readonly note?: string } {
  const words = wordsForModel(delivery, by);
  return returns === 'approval' && by.kind !== 'person' ? { by: words, note: NO_SIGN_OFF } : { by: words };
}
