/** Calls of models of the AI SDK, from the types of the provider specifications `v2`, `v3` and `v4`. */
import {
  checkSchema,
  type Fields,
  fieldsOf,
  isFile,
  isNumberIn,
  isSpoken,
  isText,
  type Json,
  listOf,
  Refusals,
} from './rules.js';

const LIMITS = {
  names: /^[a-zA-Z0-9_.-]{1,64}$/,
  formats: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
  levels: 10,
};
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The parts of each specification, by the role that may hold them. */
const COMMON: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'file'],
  assistant: ['text', 'file', 'reasoning', 'tool-call', 'tool-result'],
  tool: ['tool-result'],
};
const NEWER = ['custom', 'reasoning-file'];

/** The parts of a tool result. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  v2: ['text', 'media'],
  v3: ['text', 'image-data', 'file-data'],
  v4: ['text', 'file'],
};

/** What the types of a specification, or a provider behind it, refuse of a call. */
export function refusedByAiSdk(given: unknown): string[] {
  const found = new Refusals();
  const call = fieldsOf(given);
  const version = String(call.specification);
  found.need(version in SHOWN, 'specification', 'specification');
  found.need(isNumberIn(call.maxOutputTokens, 1, Infinity), 'max_output_tokens', 'maxOutputTokens');
  found.need(call.reasoning === undefined || version === 'v4', 'reasoning', 'reasoning');
  const tools = listOf(call.tools).map(fieldsOf);
  tools.forEach((tool, i) => {
    found.need(tool.type === 'function' && NAME.test(String(tool.name)), 'tool_name', `tools.${i}`);
    checkSchema(tool.inputSchema, LIMITS, `tools.${i}`, found);
  });
  const { type, toolName } = fieldsOf(call.toolChoice);
  const isKnown = ['auto', 'none', 'required'].includes(String(type)) || tools.some(({ name }) => name === toolName);
  found.need(call.toolChoice === undefined || (tools.length > 0 && isKnown), 'tool_choice', 'toolChoice');
  const calls = new Set<string>();
  listOf(call.prompt).forEach((message, i) => {
    checkMessage(fieldsOf(message), { version, calls, at: `prompt.${i}` }, found);
  });
  // Anthropic's own server refuses a history with calls beside no tools.
  found.need(calls.size === 0 || tools.length > 0, 'tools_missing', 'tools');
  found.need(listOf(call.prompt).length > 0, 'prompt_empty', 'prompt');
  return found.all;
}

interface About {
  readonly version: string;
  readonly calls: Set<string>;
  readonly at: string;
}

function checkMessage({ role, content }: Fields, about: About, found: Refusals): void {
  const { version, at } = about;
  if (role === 'system') {
    found.need(isSpoken(content), 'content_empty', at);
    return;
  }
  const known = [...(COMMON[String(role)] ?? []), ...(role === 'assistant' && version === 'v4' ? NEWER : [])];
  const parts = listOf(content).map(fieldsOf);
  found.need(parts.length > 0, 'content_empty', at);
  for (const part of parts) {
    found.need(known.includes(String(part.type)), 'part_type', at);
    if (part.type === 'text') found.need(isSpoken(part.text), 'content_empty', at);
    if (part.type === 'file' && role === 'user') checkFile(part, version, at, found);
    if (part.type === 'tool-call') {
      found.need(typeof part.input === 'object' && NAME.test(String(part.toolName)), 'call', at);
      about.calls.add(String(part.toolCallId));
    }
    if (part.type === 'tool-result' && role === 'tool') checkResult(part, about, found);
  }
}

function checkResult(part: Fields, { version, calls, at }: About, found: Refusals): void {
  found.need(calls.has(String(part.toolCallId)) && isSpoken(part.toolName), 'answer_without_call', at);
  const { type, value } = fieldsOf(part.output);
  if (type === 'text' || type === 'error-text') found.need(isText(value), 'output', at);
  if (type !== 'content') return;
  for (const one of listOf(value).map(fieldsOf)) {
    found.need((SHOWN[version] ?? []).includes(String(one.type)), 'output_part', at);
    if (one.type !== 'text') checkFile(one, version, at, found);
  }
}

function checkFile({ data, mediaType }: Fields, version: string, at: string, found: Refusals): void {
  const bytes: Json | undefined = version === 'v4' ? fieldsOf(data).data : data;
  if (version === 'v4') found.need(fieldsOf(data).type === 'data', 'file_data', at);
  found.need(isFile(mediaType, bytes), 'file', at);
}
