/** Which channel sees which part of an event. */
import type { Ref } from '@reprise/contracts';
import { type AgentEvent, type EventChannel, OPERATOR_ONLY } from '../contracts/agent-event.js';

/** An event as a channel shows it; undefined when the channel hides it. */
export function seenBy(channel: EventChannel, event: AgentEvent): AgentEvent | undefined {
  if (channel === 'operator') return event;
  if (OPERATOR_ONLY.includes(event.type)) return undefined;
  const {
    operator_ref: _,
    warnings_ref: __,
    reason_ref: ___,
    error_ref: ____,
    error: _____,
    ...shown
  } = event as AgentEvent & {
    readonly operator_ref?: Ref;
    readonly warnings_ref?: Ref;
    readonly reason_ref?: Ref;
    readonly error_ref?: Ref;
    readonly error?: unknown;
  };
  return withoutWholes(shown as AgentEvent);
}

/** Removes links to whole files, and the operators' part of toolset events. */
function withoutWholes(event: AgentEvent): AgentEvent {
  if (event.type === 'tool.completed')
    return { ...event, artifacts: event.artifacts.map(({ blob_ref: _, ...named }) => named) };
  // An approval without a call is about the tools of a toolset: its link is the one of `toolset.changed`.
  if (event.type !== 'human.requested' || event.kind !== 'approval' || event.call_id !== null) return event;
  const { ref: _, ...asked } = event;
  return asked;
}
