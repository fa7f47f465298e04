/**
 * The next action of a session, as data. A handler returns the next move instead of making it, and `drive` makes one
 * move after the other. So these files know the moves, and not each other.
 */
import type { LlmToolCall } from '@reprise/contracts';
import type { StopReason } from '../../contracts/lifecycle.js';
import type { NextMove, QueuedInput, SessionState } from '../../contracts/state.js';
import type { Reached } from '../account/limits.js';

/** What a session does next. */
export type Move =
  /** Starts a run with an input. */
  | { readonly do: 'start'; readonly input: QueuedInput }
  /** Starts a run that answers the input of the last run anew. */
  | { readonly do: 'again'; readonly number: number }
  /** Gives a run that waits for it its next turn. */
  | { readonly do: 'turn'; readonly input: QueuedInput }
  /** Calls the model, once the toolsets of the run have been refreshed. */
  | { readonly do: 'step'; readonly refreshed?: true }
  /** Takes up the calls of a model's answer. */
  | { readonly do: 'calls'; readonly calls: readonly LlmToolCall[] }
  /** Begins a batch that a limit has delayed. */
  | { readonly do: 'batch' }
  /** Starts the calls of the step that may run now; ends the batch when all have settled. */
  | { readonly do: 'schedule' }
  /** Ends a turn whose model has answered without calls. */
  | { readonly do: 'finish' }
  /** Handles a limit that forbids the next move. */
  | { readonly do: 'limit'; readonly reached: Reached; readonly next: NextMove }
  /** Handles a step that a model has refused as longer than its window. */
  | { readonly do: 'overlong' }
  /** Takes up the next input, or keeps the run open for one: until an earlier deadline, or for the configured time. */
  | { readonly do: 'listen'; readonly until?: number | null }
  /** Begins to stop the run. */
  | { readonly do: 'stop'; readonly stopping: NonNullable<SessionState['stopping']>; readonly at_once?: true }
  /** Ends the remaining work of a stopping run when its grace is over. */
  | { readonly do: 'give_up' }
  /** Ends a stopping run, once none of its work is under way. */
  | { readonly do: 'settle' }
  /** Ends the run. */
  | { readonly do: 'end'; readonly stop: StopReason }
  /** Takes up the inputs that wait behind an ended run. */
  | { readonly do: 'next' };

/** The next move; undefined when the session has to wait for an event. */
export type Next = Move | undefined;
