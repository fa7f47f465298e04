/** Requests of an answer that our clients cannot fulfil: such an answer is a failure that names the request. */
import { retryable, terminal, type Verdict } from '../model/verdict.js';

/** Verdicts on answers, by what they request. */
const VERDICTS = {
  /** Approval for a tool of an MCP server that the provider calls. */
  mcp_approval_request: terminal('mcp_approval_request'),
  /** A call of a tool whose input is free text. */
  custom_tool_call: terminal('custom_tool_call'),
  apply_patch_call: terminal('apply_patch_call'),
  local_shell_call: terminal('local_shell_call'),
  shell_call: terminal('shell_call'),
  computer_call: terminal('computer_call'),
  tool_search_call: terminal('tool_search_call'),
  /** Approval for a tool that a provider behind the AI SDK runs. */
  tool_approval_request: terminal('tool_approval_request'),
  /** Only an item of a kind that this client does not know. */
  unknown_item: terminal('unknown_item'),
  /** Only an end mark that this client does not know. */
  unknown_end: terminal('unknown_end'),
  /** Calls that were announced and did not arrive: they were lost on the way. */
  calls: retryable('malformed'),
} as const satisfies Readonly<Record<string, Verdict>>;

/** A request that an answer may hold. */
export type Wanted = keyof typeof VERDICTS;

/** The verdict on an answer that holds such a request. */
export function verdictOnWanted(wanted: Wanted): Verdict {
  return VERDICTS[wanted];
}

/** The request that an item of this type holds, if only a client can fulfil it. */
export function wantedBy(type: string): Wanted | undefined {
  return Object.hasOwn(VERDICTS, type) && type.includes('_') && !type.startsWith('unknown')
    ? (type as Wanted)
    : undefined;
}
