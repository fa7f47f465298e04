/** How a stream ends: which event of a session is its end, and what a client is told last. */
import type { AgentEvent, StopReason } from '@reprise/agent';
import { failureMeaning, limitWords } from '@reprise/contracts';
import type { AgUiEvent, Outcome, TokenUsage } from './events.js';

/** The end of a part of a session, for the client that follows it. */
export type End = Outcome | { readonly type: 'error'; readonly code: string; readonly message: string };

/** The end for a message behind a run that did not complete. */
export const HELD_UP: End = {
  type: 'error',
  code: 'held_up',
  message: 'The message waits behind a run that failed or was cancelled, until the session is resumed.',
};

const SUCCESS: End = { type: 'success' };

/** The end that an event is; undefined when the session goes on for the message that is answered. */
export function endIn(event: AgentEvent, session: string, input: string | undefined): End | undefined {
  if (event.session_id !== session) return undefined;
  if (event.type === 'input.dropped' && event.command_id === input) return { type: 'cancelled' };
  if (event.type !== 'lifecycle') return undefined;
  if (event.stop !== undefined) return endOf(event.stop);
  return event.to === 'WaitingInput' && event.waiting?.for === 'input' ? SUCCESS : undefined;
}

/** Whether an event begins the turn of another message, with which the one that is answered has its answer. */
export function isNextTurn(event: AgentEvent, session: string, input: string | undefined): boolean {
  if (event.type !== 'turn.started' || event.session_id !== session || event.command_id === undefined) return false;
  return event.command_id !== input && (event.origin === 'input' || event.origin === 'follow_up');
}

function endOf(stop: StopReason): End {
  switch (stop.kind) {
    case 'Completed':
      return SUCCESS;
    case 'Cancelled':
      return { type: 'cancelled' };
    case 'Failed':
      return { type: 'error', code: stop.code, message: failed(stop.code) };
    case 'LimitsExceeded':
      return { type: 'error', code: 'limit_reached', message: `The run reached its limit ${limitWords(stop.limit)}.` };
  }
}

function failed(code: string): string {
  const meaning = failureMeaning(code);
  return `The run failed: ${meaning === undefined ? code : `${meaning} (${code})`}.`;
}

interface Ended {
  readonly threadId: string;
  readonly runId: string;
  readonly usage: readonly TokenUsage[];
  /** The value that the run returned, where its agent returns one. */
  readonly result: unknown;
}

/** The last event of a stream. */
export function lastEvent(end: End, { threadId, runId, usage, result }: Ended): AgUiEvent {
  const used = usage.length === 0 ? {} : { usage };
  if (end.type === 'error') return { type: 'RUN_ERROR', message: end.message, code: end.code, ...used };
  return { type: 'RUN_FINISHED', threadId, runId, ...(result === undefined ? {} : { result }), outcome: end, ...used };
}
