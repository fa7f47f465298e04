/** A strict server of Anthropic's messages, from its API reference and its error messages. */
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
  type SchemaLimits,
} from './rules.js';

/** The names of properties are published by the error message that refuses others. */
const LIMITS: SchemaLimits = {
  names: /^[a-zA-Z0-9_.-]{1,64}$/,
  formats: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
  levels: 32,
};
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const THOUGHTS = ['thinking', 'redacted_thinking'];

/** What a strict server refuses of a request. */
export function refusedByAnthropic(given: unknown): string[] {
  const found = new Refusals();
  const body = fieldsOf(given);
  found.need(isSpoken(body.model), 'model', 'model');
  found.need(typeof body.max_tokens === 'number' && body.max_tokens >= 1, 'max_tokens', 'max_tokens');
  found.need(isNumberIn(body.temperature, 0, 1), 'temperature', 'temperature');
  const system = body.system === undefined ? ['x'] : [body.system].flat();
  const isTextBlock = (one: Json) => isSpoken(isText(one) ? one : fieldsOf(one).text);
  found.need(system.length > 0 && system.every(isTextBlock), 'system_empty', 'system');
  const stop = listOf(body.stop_sequences);
  found.need(stop.every(isSpoken), 'stop_sequences', 'stop_sequences');
  const names = checkTools(body.tools, found);
  checkChoice(body, names, found);
  const messages = listOf(body.messages).map(fieldsOf);
  checkThinking(body, messages, found);
  found.need(messages[0]?.role === 'user', 'first_message', 'messages');
  found.need(messages.at(-1)?.role === 'user', 'last_message', 'messages');
  const ids = new Set<string>();
  let due: string[] = [];
  messages.forEach(({ role, content }, i) => {
    const at = `messages.${i}`;
    const blocks: Fields[] = isText(content) ? [{ type: 'text', text: content }] : listOf(content).map(fieldsOf);
    found.need(blocks.length > 0, 'content_empty', at);
    found.need(role === 'user' || role === 'assistant', 'role', at);
    found.need(role !== messages[i - 1]?.role, 'alternation', at);
    if (role === 'user') {
      checkResults(blocks, due, at, found);
      due = [];
    } else {
      found.need(due.length === 0, 'calls_unanswered', at);
      due = checkAnswer(blocks, ids, at, found);
    }
  });
  found.need(due.length === 0, 'calls_unanswered', 'messages');
  found.need(ids.size === 0 || names.length > 0, 'tools_missing', 'tools');
  return found.all;
}

function checkTools(tools: Json | undefined, found: Refusals): string[] {
  const all = listOf(tools).map(fieldsOf);
  const names = all.map(({ name }) => String(name));
  found.need(tools === undefined || all.length > 0, 'tools_count', 'tools');
  found.need(new Set(names).size === names.length, 'tool_twice', 'tools');
  all.forEach((tool, i) => {
    found.need(NAME.test(String(tool.name)), 'tool_name', `tools.${i}`);
    found.need(tool.description === undefined || isText(tool.description), 'tool_description', `tools.${i}`);
    checkSchema(tool.input_schema, LIMITS, `tools.${i}`, found);
  });
  return names;
}

function checkChoice({ tool_choice, thinking }: Fields, names: readonly string[], found: Refusals): void {
  if (tool_choice === undefined) return;
  const { type, name } = fieldsOf(tool_choice);
  found.need(names.length > 0, 'tool_choice_without_tools', 'tool_choice');
  const isKnown = ['auto', 'any', 'none'].includes(String(type)) || (type === 'tool' && names.includes(String(name)));
  found.need(isKnown, 'tool_choice', 'tool_choice');
  const isForced = type === 'any' || type === 'tool';
  found.need(!isForced || thinking === undefined, 'tool_choice_with_thinking', 'tool_choice');
}

function checkThinking(
  { thinking, max_tokens, temperature }: Fields,
  messages: readonly Fields[],
  found: Refusals,
): void {
  if (thinking === undefined) return;
  const { type, budget_tokens: budget } = fieldsOf(thinking);
  found.need(temperature === undefined || temperature === 1, 'temperature_with_thinking', 'temperature');
  if (type !== 'enabled') return;
  found.need(typeof budget === 'number' && budget >= 1_024 && budget < Number(max_tokens), 'budget_tokens', 'thinking');
  const last = listOf(messages.at(-1)?.content).map(fieldsOf);
  if (!last.some((block) => block.type === 'tool_result')) return;
  const [first] = listOf(messages.at(-2)?.content).map(fieldsOf);
  found.need(THOUGHTS.includes(String(first?.type)), 'thinking_missing', 'messages');
}

/** Checks the blocks of an answer. Returns the ids of its calls. */
function checkAnswer(blocks: readonly Fields[], ids: Set<string>, at: string, found: Refusals): string[] {
  const calls: string[] = [];
  blocks.forEach((block) => {
    if (block.type === 'text') found.need(isSpoken(block.text), 'content_empty', at);
    if (block.type === 'thinking') found.need(isText(block.thinking) && isSpoken(block.signature), 'thinking', at);
    if (block.type !== 'tool_use') return;
    const id = String(block.id);
    found.need(CALL_ID.test(id), 'call_id', at);
    found.need(!ids.has(id), 'call_id_twice', at);
    found.need(NAME.test(String(block.name)), 'call_name', at);
    found.need(
      typeof block.input === 'object' && block.input !== null && !Array.isArray(block.input),
      'call_input',
      at,
    );
    ids.add(id);
    calls.push(id);
  });
  found.need(!THOUGHTS.includes(String(blocks.at(-1)?.type)), 'thinking_last', at);
  return calls;
}

/** Checks a user message: the results of all calls of the answer before it come first. */
function checkResults(blocks: readonly Fields[], due: readonly string[], at: string, found: Refusals): void {
  const results = blocks.filter((block) => block.type === 'tool_result');
  const answered = results.map((block) => String(block.tool_use_id));
  found.need(
    blocks.slice(0, results.length).every((block) => block.type === 'tool_result'),
    'results_first',
    at,
  );
  found.need(
    due.every((id) => answered.includes(id)),
    'calls_unanswered',
    at,
  );
  found.need(
    answered.every((id) => due.includes(id)),
    'answer_without_call',
    at,
  );
  found.need(new Set(answered).size === answered.length, 'answer_twice', at);
  for (const block of blocks) checkSaid(block, at, found);
}

function checkSaid(block: Fields, at: string, found: Refusals): void {
  const { media_type, data } = fieldsOf(block.source);
  if (block.type === 'text') found.need(isSpoken(block.text), 'content_empty', at);
  else if (block.type === 'image')
    found.need(IMAGES.includes(String(media_type)) && isFile(media_type, data), 'image', at);
  else if (block.type === 'document') found.need(isFile('application/pdf', data), 'document', at);
  else if (found.need(block.type === 'tool_result', 'block_type', at))
    for (const inner of listOf(block.content).map(fieldsOf)) {
      found.need(inner.type !== 'tool_result', 'block_type', at);
      checkSaid(inner, at, found);
    }
}
