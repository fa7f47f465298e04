/** The one kernel timer of an effect: due when the first of the times that it waits for comes. */

import { timerKey } from '../leaf/leaf-key.js';
import type { EffectLeaf } from '../leaf/leaves.js';
import type { FrameFold } from './frame-fold.js';

/** Authors' timers cannot begin with a tilde, so these are the kernel's own. */
const EFFECT_TIMER = '~effect:';

/** The effect whose timer has this name; undefined when it is another timer. */
export function effectOfTimer(name: string): string | undefined {
  return name.startsWith(EFFECT_TIMER) ? name.slice(EFFECT_TIMER.length) : undefined;
}

/** Sets the effect's timer to the next time that matters to it. @returns the leaf, which the caller writes */
export function wakeWhenDue(fold: FrameFold, id: string, effect: EffectLeaf): EffectLeaf {
  const due = nextDue(effect);
  if (due === effect.wake) return effect;
  const { wake: _dropped, ...rest } = effect;
  dropWake(fold, id, effect);
  if (due === undefined) return rest;
  fold.overlay.set(timerOf(id, effect, due), { due });
  return { ...rest, wake: due };
}

/** Removes the effect's timer, when it has one. */
export function dropWake(fold: FrameFold, id: string, effect: EffectLeaf): void {
  if (effect.wake !== undefined) fold.overlay.set(timerOf(id, effect, effect.wake), undefined);
}

function timerOf(id: string, { plan }: EffectLeaf, due: number) {
  return timerKey(due, [plan[0], plan[1]], -1, EFFECT_TIMER + id);
}

function nextDue({ cancelled, deferred, asks = [] }: EffectLeaf): number | undefined {
  const times = [cancelled?.until, deferred?.expires, ...asks.map((ask) => (ask.answer ? null : ask.expires))];
  const known = times.filter((time) => time !== undefined && time !== null);
  return known.length === 0 ? undefined : Math.min(...known);
}
