/**
 * What of the transcript the model is shown: where the window begins, and where it may begin next.
 *
 * Invariants
 * V1  A window begins with an exchange: never between a call and its result.
 * V2  Its own part of the state does not grow: the beginnings of the last exchanges are known, and no others.
 */
import { PINS_MAX, type Ref } from '@reprise/contracts';
import type { SessionState } from '../contracts/state.js';
import type { TranscriptItem } from '../contracts/transcript.js';
import { type CompactionCause, type ContextWindow, STARTS_MAX } from '../contracts/window.js';

/** The failure of a model that was given more than its window holds. */
export const CONTEXT_LIMIT = 'provider_error_terminal/context_limit';

/** What stays takes at most one part in so many of the model's window. */
const KEPT_PART = 4;

/** The window of a session without items. */
export function wholeWindow(): ContextWindow {
  return { from: 0, base_ref: null, pins: [], starts: [], asked: false, reading: null, due: null };
}

/** Follows an item that is about to be appended. An exchange begins with what is said, or with an answer to nothing new. */
export function followItem({ window, items }: SessionState, { role }: TranscriptItem): void {
  if (role !== 'user' && role !== 'assistant') return;
  if (!window.asked)
    window.starts = [...window.starts, [items, window.reading?.tokens ?? 0] as [number, number]].slice(-STARTS_MAX);
  window.asked = role === 'user';
}

/** Pins the item that is about to be appended; of more than may be, the oldest is told by the summary alone. */
export function pinNext({ window, items }: SessionState): void {
  window.pins = [...window.pins, items].slice(-PINS_MAX);
}

/** What a model call is told of the window. */
export function windowParams({ window: { from, base_ref, pins } }: SessionState) {
  return {
    from,
    ...(base_ref === null ? {} : { base_ref }),
    ...(pins.length === 0 ? {} : { pins: [...pins] }),
  };
}

/**
 * The item that the window would begin with: the last `keep` whole exchanges stay, fewer where they take more than their
 * part of the window, and always what still awaits an answer. Undefined when nothing would go.
 */
export function nextStart({ window, run }: SessionState, keep: number, cause: CompactionCause): number | undefined {
  const { starts, asked, from, reading } = window;
  const whole = asked ? starts.slice(0, -1) : starts;
  const stays = whole.slice(-(cause === 'context_limit' ? 1 : keep));
  const now = reading?.tokens ?? 0;
  const room = run?.config.context_window ?? null;
  const fits = ([, before]: readonly [number, number]) => room === null || (now - before) * KEPT_PART <= room;
  const start = (stays.find(fits) ?? starts.at(-1))?.[0];
  return start === undefined || start <= from ? undefined : start;
}

/** The window begins with an item from now on, behind a summary. */
export function moveWindow({ window }: SessionState, to: number, base_ref: Ref): void {
  window.from = to;
  window.base_ref = base_ref;
  const gone = window.starts.find(([item]) => item === to)?.[1] ?? 0;
  window.starts = window.starts
    .filter(([item]) => item >= to)
    .map(([item, before]): [number, number] => [item, Math.max(0, before - gone)]);
}
