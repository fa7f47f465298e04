/** The parts of the ids that events state. */
import type { AgentEvent } from '../contracts/agent-event.js';

/** The index of an event's record in its frame. */
export function indexOf({ event_seq }: Pick<AgentEvent, 'event_seq'>): number {
  return Number(event_seq.slice(event_seq.indexOf('.') + 1));
}

/** The number of an event's run in its session; null when it belongs to none. */
export function runOf({ session_id, run_id }: Pick<AgentEvent, 'session_id' | 'run_id'>): number | null {
  return run_id === null ? null : Number(run_id.slice(session_id.length + 2));
}

/** The number of an event's step in its session. */
export function stepOf({ step_id }: Pick<AgentEvent, 'step_id'>): string | undefined {
  return step_id?.slice(step_id.lastIndexOf('/s') + 2);
}
