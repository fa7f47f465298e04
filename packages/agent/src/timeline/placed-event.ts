/** What the makers of events pass on: the body of an event, and the place in a session that it belongs to. */
import type { AgentEventOf, AgentEventType } from '../contracts/agent-event.js';
import type { RunCause } from '../contracts/commands.js';

/** An event without its place, its cause and its time. */
export type Body = { [T in AgentEventType]: Omit<AgentEventOf<T>, Correlated> }[AgentEventType];
type Correlated = 'session_id' | 'run_id' | 'turn_id' | 'step_id' | 'event_seq' | 'correlation_id' | 'causation' | 'at';

/** A place in a run; a part that does not apply is absent. */
export interface Place {
  readonly run?: number;
  readonly turn?: number;
  readonly step?: number;
}

/** The body of an event, and where it belongs. */
export interface Placed {
  readonly session: string;
  readonly place: Place;
  readonly body: Body;
}

/** The id of a run, as events show it. */
export function runId(session: string, run: number): string {
  return `${session}/r${run}`;
}

/** The run at the root of a run, by its cause. */
export function rootOf(session: string, run: number, cause: RunCause): string {
  return cause.kind === 'parent' ? (cause.root ?? runId(cause.session, run)) : runId(session, run);
}
