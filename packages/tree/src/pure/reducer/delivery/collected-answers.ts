/** The answers to calls that a tree takes together: they are sent together. */
import { type OwnerAnswer, type OwnerAnswers, SESSION_REDUCER } from '@reprise/agent/contracts';
import { byteLength } from '@reprise/kernel/codec';
import type { Delivery } from './delivery.js';

/** The bytes that the answers of one event have at most: below the bound of an event's value. */
const ANSWERS_BYTES_MAX = 48 * 1024;

/** Sends an answer: with those to the calls that are taken together with its call, when there are such. */
export function giveAnswer(delivery: Pick<Delivery, 'ctx' | 'answers'>, answer: OwnerAnswer): void {
  const { answers } = delivery;
  const { session, step_epoch, ...reply } = answer;
  if (answers?.session !== session || answers.step_epoch !== step_epoch) return sendAnswer(delivery, answer);
  const bytes = byteLength(reply);
  if (answers.bytes + bytes > ANSWERS_BYTES_MAX) sendAnswers(delivery);
  answers.answers.push(reply);
  answers.bytes += bytes;
}

/** Sends the answers that have been collected, before anything else that their session is sent. */
export function sendAnswers(delivery: Pick<Delivery, 'ctx' | 'answers'>): void {
  const { ctx, answers } = delivery;
  if (answers === undefined) return;
  const { session, step_epoch } = answers;
  const given = answers.answers.splice(0);
  answers.bytes = 0;
  const [first] = given;
  if (first === undefined) return;
  if (given.length === 1) return sendAnswer(delivery, { session, step_epoch, ...first });
  const value: OwnerAnswers = { session, step_epoch, answers: given };
  ctx.send([SESSION_REDUCER, session], { name: 'aos.agent/OwnerAnswers@1', value });
}

function sendAnswer({ ctx }: Pick<Delivery, 'ctx'>, value: OwnerAnswer): void {
  ctx.send([SESSION_REDUCER, value.session], { name: 'aos.agent/OwnerAnswer@1', value });
}
