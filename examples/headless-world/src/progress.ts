import type { AgentEvent } from 'reprise';

/** One line for an event; undefined for those that a person need not see. */
export function lineFor(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'input.accepted':
      return `run ${event.run} ${event.queued ? 'is queued' : 'starts'}`;
    case 'llm_step.requested':
      return `step ${event.step_epoch}: asking the model`;
    case 'llm_step.completed':
      return `step ${event.step_epoch}: ${event.calls.length === 0 ? 'answered' : `wants ${plural(event.calls.length, 'tool call')}`}`;
    case 'llm_step.failed':
      return `step ${event.step_epoch}: failed: ${event.code}`;
    case 'tool.requested':
      return `  ${event.tool} …`;
    case 'tool.completed':
      return 'non_execution' in event.outcome ? `  no result: ${event.outcome.non_execution.kind}` : undefined;
    case 'lifecycle':
      return event.stop === undefined ? undefined : `run ${event.run} ends: ${event.to}`;
    default:
      return event satisfies never;
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
