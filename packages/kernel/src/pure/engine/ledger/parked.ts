/** Effects that wait for input from outside: deferred ones, questions of running ones, and their expiry. */
import type { IngressOf, Value } from '@reprise/contracts';
import { byteLength, encode, equalBytes } from '../../codec/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { tellOwner } from '../frame/notify.js';
import { wakeWhenDue } from '../frame/wake.js';
import { EFFECT_QUESTIONS_MAX, LEAF_BYTES_MAX } from '../leaf/bounds.js';
import { effectKey } from '../leaf/leaf-key.js';
import type { AskedQuestion, EffectLeaf } from '../leaf/leaves.js';
import { Refusal } from '../leaf/signals.js';
import { isUnderWay, openEffect, settleInFrame } from './settle.js';

/** An adapter has deferred its effect: from now on nothing of it runs here. */
export function deferEffect(fold: FrameFold, ingress: IngressOf<'deferred'>): void {
  const { asks: _asks, ...effect } = underWay(fold, ingress); // its cancellation stands: it must still end in time
  const times = [ingress.expires, effect.deadline].filter((time) => time !== null);
  const expires = times.length === 0 ? null : Math.min(...times);
  const deferred: EffectLeaf = { ...effect, deferred: { expires, to: ingress.to } };
  fold.overlay.set(effectKey(ingress.effect), wakeWhenDue(fold, ingress.effect, deferred));
  tellWaiting(fold, ingress.effect, effect, 'settlement', ingress.to);
}

/** The adapter of a running effect asks a question. The same question under the same number is asked once. */
export function askOutside(fold: FrameFold, ingress: IngressOf<'ask'>): void {
  const effect = underWay(fold, ingress);
  const { n, question, expires, to, at } = ingress;
  if (n >= EFFECT_QUESTIONS_MAX) throw tooMuch(`an effect asks at most ${EFFECT_QUESTIONS_MAX} questions`);
  const asked: AskedQuestion = { n, question, at, expires, to };
  const asks = [...(effect.asks ?? []).filter((known) => known.n !== n), asked];
  const asking = wakeWhenDue(fold, ingress.effect, { ...effect, asks });
  if (byteLength(asking as unknown as Value) > LEAF_BYTES_MAX) {
    throw tooMuch(`its questions take more than ${LEAF_BYTES_MAX} bytes`);
  }
  fold.overlay.set(effectKey(ingress.effect), asking);
  tellWaiting(fold, ingress.effect, effect, 'answer', to);
}

/** Whether a question of its adapter is still open. */
export function isAsking({ asks = [] }: EffectLeaf): boolean {
  return asks.some(({ answer }) => answer === undefined);
}

/** Whether this question exists already: an adapter that runs again asks again. */
export function isSameQuestion(known: AskedQuestion, question: unknown): boolean {
  return equalBytes(encode(known.question), encode(question));
}

/** A deadline of an effect has come. */
export function effectDue(fold: FrameFold, id: string): void {
  const known = openEffect(fold, id);
  if (known === undefined) return;
  const { wake: _wake, ...effect } = known; // the timer's leaf is gone with the ingress
  const base = { adapter: 'kernel', attempts: effect.attempt };
  if (isDue(fold, effect.cancelled?.until)) {
    return settleInFrame(fold, id, effect, { by: 'cancel', receipt: { ...base, status: 'cancelled' } }, 0);
  }
  if (isDue(fold, effect.deferred?.expires)) {
    const receipt = { ...base, status: 'timeout', code: 'adapter_timeout' } as const;
    return settleInFrame(fold, id, effect, { by: 'expired', receipt }, 0);
  }
  const left = wakeWhenDue(fold, id, expireAsks(fold, effect));
  fold.overlay.set(effectKey(id), left);
  if (!isAsking(effect) || isAsking(left)) return;
  tellOwner(fold, effect.plan, 'sys/EffectGoesOn@1', { effect: id, name: effect.name, plan: [...effect.plan] }, 0);
}

/** The effect with every question expired whose time has come. */
function expireAsks(fold: FrameFold, effect: EffectLeaf): EffectLeaf {
  if (effect.asks === undefined) return effect;
  const asks = effect.asks.map((ask) =>
    ask.answer === undefined && isDue(fold, ask.expires) ? { ...ask, answer: { expired: true } as const } : ask,
  );
  return { ...effect, asks };
}

function tellWaiting(
  fold: FrameFold,
  id: string,
  { name, plan }: EffectLeaf,
  what: 'answer' | 'settlement',
  to: string | null,
): void {
  tellOwner(fold, plan, 'sys/EffectWaiting@1', { effect: id, name, plan: [...plan], for: what, to }, 0);
}

function isDue(fold: FrameFold, time: number | null | undefined): boolean {
  return time !== null && time !== undefined && time <= fold.at;
}

function underWay(fold: FrameFold, { effect: id, attempt }: { effect: string; attempt: number }): EffectLeaf {
  const effect = openEffect(fold, id);
  if (effect !== undefined && isUnderWay(effect) && effect.attempt === attempt) return effect;
  throw new Refusal('effect_settled', `effect ${id} is not under way in this attempt`, {
    expected: effect?.attempt ?? 'nothing',
    actual: attempt,
  });
}

function tooMuch(what: string): Refusal {
  return new Refusal('bound_exceeded', what, {
    hint: 'Ask less, or put the material into the content store and ask with its ref.',
  });
}
