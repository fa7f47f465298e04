/** Whose events are wanted, and what their makers have to know of the frames before. */
import type { EffectTrace } from './effect-events.js';
import type { Place } from './placed-event.js';

/** Selects the sessions whose events are wanted. */
export interface EventScope {
  /** The keys of sessions; every session when absent. */
  readonly sessions?: readonly string[];
  /** Includes the sessions' children, from the frame that makes them. */
  readonly tree?: boolean;
  /** Includes only runs that are accepted from the first frame on; effects of older runs are ignored. */
  readonly ownRuns?: boolean;
}

/** The facts about the frames before one. */
export interface Past {
  /** The given sessions and all sessions below them. */
  below(sessions: readonly string[]): Promise<readonly string[]>;
  /** The place of a session's last step. */
  placeOf(session: string): Promise<Place>;
  /** The run at the root of a run; undefined when the run was not accepted yet. */
  rootOf(session: string, run: number): Promise<string | undefined>;
  /** An open effect of a session; undefined when it was not open. */
  effectOf(effect: string): Promise<EffectTrace | undefined>;
}
