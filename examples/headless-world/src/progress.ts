import type { AgentEvent } from 'reprise';

/** Describes an event in one line; undefined for events that the user need not see. */
export function lineFor(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'input.accepted':
      return `${runOf(event)} ${event.queued ? 'is queued' : 'starts'}`;
    case 'llm_step.requested':
      return `${stepOf(event)}: asking the model`;
    case 'llm_step.completed':
      return `${stepOf(event)}: ${event.calls.length === 0 ? 'answered' : `wants ${plural(event.calls.length, 'tool call')}`}`;
    case 'llm_step.failed':
      return `${stepOf(event)}: failed: ${event.code}`;
    case 'tool.requested':
      return `  ${event.tool} ${subjectOf(event.args)}`;
    case 'tool.failed':
      return event.non_execution === undefined ? undefined : `  no result: ${event.non_execution.kind}`;
    case 'lifecycle':
      return event.stop === undefined ? undefined : `${runOf(event)} ends: ${event.to}`;
    default:
      return undefined;
  }
}

const SUBJECT_MAX = 100;

/** What a call is about: the path or the pattern among its arguments, safe for a terminal. */
function subjectOf(args: unknown): string {
  const { path, pattern } = (args ?? {}) as { readonly path?: unknown; readonly pattern?: unknown };
  const subject = pattern ?? path;
  return typeof subject === 'string' && subject !== '' ? subject.slice(0, SUBJECT_MAX).replace(/\p{Cc}/gu, '?') : '…';
}

function runOf({ run_id }: AgentEvent): string {
  return `run ${run_id?.split('/r').at(-1) ?? '?'}`;
}

function stepOf({ step_id }: AgentEvent): string {
  return `step ${step_id?.split('/s').at(-1) ?? '?'}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
