/** What a page is told of a call that failed: never the words of an exception, which name hosts, paths and queries. */
import { type AgentEventOf, isLostResult } from '@reprise/agent';

/** A failed call, and what its model reads about it. */
export interface ToolFailure {
  readonly toolCallId: string;
  readonly tool: string;
  /** A failure code, such as `adapter_error`; null when the session's owner refused the call. */
  readonly code: string | null;
  /** What the model reads: it may be the text of an exception. Absent when the call was never executed. */
  readonly text?: string;
}

/** What is shown for a failure of the tool itself. */
const MASKED: Readonly<Record<string, string>> = {
  adapter_error: 'The tool failed.',
  tool_args_invalid: 'The arguments did not fit the tool; nothing was done.',
  validation_error: 'The tool has changed; nothing was done.',
};

/** What is shown for a call that was done, while its result was lost. */
const LOST = 'The tool was done; its result was lost.';

/** A failed call as a `toolErrorText` is asked about it. */
export function toolFailure({ call_id, tool, code, text }: AgentEventOf<'tool.failed'>): ToolFailure {
  return { toolCallId: call_id, tool, code, ...(text === undefined ? {} : { text }) };
}

/** The text that a page shows by default: that of the failure's code. */
export function maskedText({ non_execution, answer, code }: AgentEventOf<'tool.failed'>): string {
  if (answer !== undefined) return 'The call was refused.';
  const reported = [non_execution?.kind, code].filter((word) => word != null).join(': ');
  return MASKED[reported] ?? (reported === '' ? 'The tool failed.' : reported);
}

/** The output of a call as a page shows it: a lost result tells its model why, in the words of an exception. */
export function maskedOutput(text: string | undefined): string | undefined {
  return text !== undefined && isLostResult(text) ? LOST : text;
}
