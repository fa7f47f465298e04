/**
 * What a session does next, as data. A handler answers with the next move instead of making it; `drive` makes one after
 * the other. So the files below know moves, and not each other.
 */
import type { LlmToolCall } from '@reprise/contracts';
import type { StopReason } from '../contracts/lifecycle.js';
import type { NextMove, QueuedInput, SessionState } from '../contracts/state.js';
import type { Reached } from './limits.js';

/** A move. */
export type Move =
  /** Starts a run with an input. */
  | { readonly do: 'start'; readonly input: QueuedInput }
  /** Gives a run that waits for it its next turn. */
  | { readonly do: 'turn'; readonly input: QueuedInput }
  /** Asks the model, once the toolsets of the run have been looked at. */
  | { readonly do: 'step'; readonly refreshed?: true }
  /** Takes up the calls that a model asked for. */
  | { readonly do: 'calls'; readonly calls: readonly LlmToolCall[] }
  /** Begins a batch that a limit held. */
  | { readonly do: 'batch' }
  /** Starts those calls of the step that may run now; when all have settled, ends the batch. */
  | { readonly do: 'schedule' }
  /** Ends a turn: its model has answered without calls. */
  | { readonly do: 'finish' }
  /** A limit forbids what would come next. */
  | { readonly do: 'limit'; readonly reached: Reached; readonly next: NextMove }
  /** A model has refused the step as longer than its window. */
  | { readonly do: 'overlong' }
  /** Takes up the next input, or leaves the run open for one: until a time that was set before, or as long as it may. */
  | { readonly do: 'listen'; readonly until?: number | null }
  /** Begins to stop the run. */
  | { readonly do: 'stop'; readonly stopping: NonNullable<SessionState['stopping']>; readonly at_once?: true }
  /** Ends what a run that is stopping has under way, without its grace. */
  | { readonly do: 'give_up' }
  /** Ends a run that is stopping, once nothing of it is under way. */
  | { readonly do: 'settle' }
  /** Ends the run. */
  | { readonly do: 'end'; readonly stop: StopReason }
  /** Takes up what waits behind a run that has ended. */
  | { readonly do: 'next' };

/** The next move; undefined when the session has to hear of something first. */
export type Next = Move | undefined;
