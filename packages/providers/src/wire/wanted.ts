/** What an answer may ask of its client, and ours cannot give: such an answer is a failure that names it. */
import { retryable, terminal, type Verdict } from '../model/verdict.js';

/** The verdict on an answer that wants it. */
const VERDICTS = {
  /** A tool of an MCP server that the provider calls is to be approved. */
  mcp_approval_request: terminal('mcp_approval_request'),
  /** A tool whose input is free text. */
  custom_tool_call: terminal('custom_tool_call'),
  apply_patch_call: terminal('apply_patch_call'),
  local_shell_call: terminal('local_shell_call'),
  shell_call: terminal('shell_call'),
  computer_call: terminal('computer_call'),
  tool_search_call: terminal('tool_search_call'),
  /** A tool that a provider behind the AI SDK runs is to be approved. */
  tool_approval_request: terminal('tool_approval_request'),
  /** Something that is newer than this client, and nothing besides. */
  unknown_item: terminal('unknown_item'),
  /** An end that is newer than this client, and nothing before it. */
  unknown_end: terminal('unknown_end'),
  /** Calls that were announced and did not come: they were lost on the way. */
  calls: retryable('malformed'),
} as const satisfies Readonly<Record<string, Verdict>>;

/** Something that an answer may want. */
export type Wanted = keyof typeof VERDICTS;

/** The verdict on an answer that wants something. */
export function verdictOnWanted(wanted: Wanted): Verdict {
  return VERDICTS[wanted];
}

/** What only a client can answer, by the type of its item. */
export function wantedBy(type: string): Wanted | undefined {
  return Object.hasOwn(VERDICTS, type) && type.includes('_') && !type.startsWith('unknown')
    ? (type as Wanted)
    : undefined;
}
