/**
 * The model's window on the transcript: where it begins, and where it may begin next.
 *
 * Invariants
 * V1  A window begins with an exchange: never between a call and its result.
 * V2  The window's part of the state does not grow: it stores the starts of the last exchanges only.
 */
import { DROPPED_MAX, PINS_MAX, type Ref } from '@reprise/contracts';
import type { Rejection } from '../../contracts/commands.js';
import type { SessionState } from '../../contracts/state.js';
import type { TranscriptItem } from '../../contracts/transcript.js';
import { type CompactionCause, type ContextWindow, STARTS_MAX } from '../../contracts/window.js';

/** The failure code of a model call whose prompt exceeds the window. */
export const CONTEXT_LIMIT = 'provider_error_terminal/context_limit';

/** The kept exchanges may take this fraction of the model's window at most. */
const RETAINED_PART = 4;

/** The window of a session without items. */
export function wholeWindow(): ContextWindow {
  return { from: 0, base_ref: null, pins: [], starts: [], asked: false, reading: null, due: null };
}

/**
 * Updates the window for an item that is about to be appended. A user item starts an exchange, and so does an answer
 * that follows no open exchange.
 */
export function followItem({ window, items }: SessionState, { role }: TranscriptItem): void {
  if (role !== 'user' && role !== 'assistant') return;
  if (!window.asked)
    window.starts = [...window.starts, [items, window.reading?.tokens ?? 0] as [number, number]].slice(-STARTS_MAX);
  window.asked = role === 'user';
}

/** Pins the item that is about to be appended; beyond the bound, the oldest pinned item is left to the summary. */
export function pinNext({ window, items }: SessionState): void {
  window.pins = [...window.pins, items].slice(-PINS_MAX);
}

/** The window as a model call describes it. */
export function windowParams({ window: { from, base_ref, pins, dropped } }: SessionState) {
  return {
    from,
    ...(base_ref === null ? {} : { base_ref }),
    ...(pins.length === 0 ? {} : { pins: [...pins] }),
    ...(dropped === undefined ? {} : { dropped: [...dropped] }),
  };
}

/** Takes a file or an image out of the conversation. @returns why not, if it cannot */
export function dropContent({ window }: SessionState, content: string): Rejection | undefined {
  const { dropped = [] } = window;
  if (dropped.includes(content)) return 'already_dropped';
  if (dropped.length >= DROPPED_MAX) return 'too_many_dropped';
  window.dropped = [...dropped, content];
  return undefined;
}

/**
 * The item that the window would begin with after a compaction. The last `keep` whole exchanges stay, fewer when they
 * exceed their share of the window, and everything after an unanswered item stays. Undefined when nothing would be
 * removed.
 */
export function nextStart({ window, run }: SessionState, keep: number, cause: CompactionCause): number | undefined {
  const { starts, asked, from, reading } = window;
  const whole = asked ? starts.slice(0, -1) : starts;
  const stays = whole.slice(-(cause === 'context_limit' ? 1 : keep));
  const now = reading?.tokens ?? 0;
  const room = run?.config.context_window ?? null;
  const fits = ([, before]: readonly [number, number]) => room === null || (now - before) * RETAINED_PART <= room;
  const start = (stays.find(fits) ?? starts.at(-1))?.[0];
  return start === undefined || start <= from ? undefined : start;
}

/** Moves the start of the window to an item, behind a summary. */
export function moveWindow({ window }: SessionState, to: number, base_ref: Ref): void {
  window.from = to;
  window.base_ref = base_ref;
  const gone = window.starts.find(([item]) => item === to)?.[1] ?? 0;
  window.starts = window.starts
    .filter(([item]) => item >= to)
    .map(([item, before]): [number, number] => [item, Math.max(0, before - gone)]);
}
