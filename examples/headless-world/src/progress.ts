/** What a survey prints while it runs: one line for each step and each call. */
import type { AgentEvent } from 'reprise';

/** Describes an event in one line; undefined for events that the user need not see. */
export function lineFor(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'llm_step.requested':
      return stepOf(event);
    case 'llm_step.failed':
      return `${stepOf(event)} failed: ${event.code}`;
    case 'tool.requested':
      return `  ${event.tool}${subjectOf(event.args)}`;
    case 'tool.failed':
      return event.non_execution === undefined ? undefined : `  no result: ${event.non_execution.kind}`;
    default:
      return undefined;
  }
}

/** Shortens a line in its middle, so that it fits a terminal of this many columns. */
export function shortened(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const end = Math.max(1, Math.floor((columns - 1) / 2));
  return `${line.slice(0, Math.max(1, columns - 1 - end))}…${line.slice(-end)}`;
}

/** What a call is about: the path or the pattern among its arguments, safe for a terminal. */
function subjectOf(args: unknown): string {
  const { path, pattern } = (args ?? {}) as { readonly path?: unknown; readonly pattern?: unknown };
  if (typeof pattern === 'string') return ` ${visible(JSON.stringify(pattern))}`;
  return typeof path === 'string' ? ` ${visible(path)}` : '';
}

function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}

function stepOf({ step_id }: AgentEvent): string {
  return `step ${step_id?.split('/s').at(-1) ?? '?'}`;
}
