/** Requests of an answer that our clients cannot fulfil: such an answer is a failure that names the request. */
import { ProviderError, retryable, terminal, type Verdict } from '../model/verdict.js';

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
  /** Nothing at all: no text, no call, and no reason for the end. An end mark is not an answer. */
  nothing: retryable('malformed'),
  /** One call twice, where the options of the client do not allow that. */
  repeated_call: retryable('malformed'),
} as const satisfies Readonly<Record<string, Verdict>>;

/** A request that an answer may hold. */
export type Wanted = keyof typeof VERDICTS;

/** What is wrong with an answer, in words; the others ask for something by its name. */
const WORDS: Partial<Record<Wanted, string>> = {
  unknown_item: 'the answer holds only an item of a kind that this client does not know',
  unknown_end: 'the answer holds only an end mark that this client does not know',
  calls: 'the end mark announces calls, and the answer holds no call',
  nothing: 'the answer holds no text, no call and no reason for its end',
  repeated_call: 'the answer holds two calls with one id',
};

/** The verdict on an answer that holds such a request, with the reason in words. */
export function verdictOnWanted(wanted: Wanted): Verdict {
  const words = WORDS[wanted] ?? `the answer asks for ${wanted}, which this client cannot do`;
  return { ...VERDICTS[wanted], error: new ProviderError(words) };
}

/** The request that an item of this type holds, if only a client can fulfil it. */
export function wantedBy(type: string): Wanted | undefined {
  return Object.hasOwn(VERDICTS, type) && type.includes('_') && !/^(?:unknown|repeated)_/.test(type)
    ? (type as Wanted)
    : undefined;
}
