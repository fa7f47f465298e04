/** Strict servers of OpenAI's two formats, from its API reference and its error messages. */
import {
  checkSchema,
  type Fields,
  fieldsOf,
  isFileUrl,
  isNumberIn,
  isObjectText,
  isSpoken,
  isText,
  type Json,
  listOf,
  Refusals,
  type SchemaLimits,
} from './rules.js';

/** Structured outputs, supported schemas: formats, and ten levels of objects. */
const LIMITS: SchemaLimits = {
  formats: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
  levels: 10,
};
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function checkTools(tools: Json | undefined, functionOf: (tool: Fields) => Fields, found: Refusals): string[] {
  if (tools === undefined) return [];
  const all = listOf(tools).map(fieldsOf);
  found.need(all.length >= 1 && all.length <= 128, 'tools_count', 'tools');
  return all.map((tool, i) => {
    const { name, description, parameters } = functionOf(tool);
    const at = `tools.${i}`;
    found.need(tool.type === 'function', 'tool_type', at);
    found.need(NAME.test(String(name)), 'tool_name', at);
    found.need(isText(description) && description.length <= 1_024, 'tool_description', at);
    checkSchema(parameters, LIMITS, at, found);
    return String(name);
  });
}

function checkCommon(body: Fields, names: readonly string[], chosen: Json | undefined, found: Refusals): void {
  found.need(isSpoken(body.model), 'model', 'model');
  found.need(isNumberIn(body.temperature, 0, 2), 'temperature', 'temperature');
  const pairs = Object.entries(fieldsOf(body.metadata));
  const fits = ([key, value]: [string, Json]) => key.length <= 64 && isText(value) && value.length <= 512;
  found.need(pairs.length <= 16 && pairs.every(fits), 'metadata', 'metadata');
  if (body.tool_choice === undefined) return;
  found.need(names.length > 0, 'tool_choice_without_tools', 'tool_choice');
  const isWord = ['auto', 'none', 'required'].includes(String(body.tool_choice));
  found.need(isWord || names.includes(String(chosen)), 'tool_choice', 'tool_choice');
}

/** What a strict server of chat completions refuses of a request. */
export function refusedByChat(given: unknown): string[] {
  const found = new Refusals();
  const body = fieldsOf(given);
  const names = checkTools(body.tools, (tool) => fieldsOf(tool.function), found);
  checkCommon(body, names, fieldsOf(fieldsOf(body.tool_choice).function).name, found);
  found.need(isNumberIn(body.max_tokens, 1, Infinity), 'max_tokens', 'max_tokens');
  const stop = body.stop === undefined ? ['x'] : [body.stop].flat();
  found.need(stop.length >= 1 && stop.length <= 4 && stop.every(isText), 'stop', 'stop');
  const messages = listOf(body.messages).map(fieldsOf);
  found.need(messages.length > 0, 'messages_empty', 'messages');
  let due: string[] = [];
  messages.forEach((message, i) => {
    const at = `messages.${i}`;
    if (message.role !== 'tool') found.need(due.length === 0, 'calls_unanswered', at);
    if (message.role === 'tool') {
      found.need(due.includes(String(message.tool_call_id)), 'answer_without_call', at);
      due = due.filter((id) => id !== message.tool_call_id);
    } else due = checkChatMessage(message, at, found);
  });
  found.need(due.length === 0, 'calls_unanswered', 'messages');
  found.need(['user', 'tool'].includes(String(messages.at(-1)?.role)), 'last_message', 'messages');
  return found.all;
}

/** Checks a message that is no result. Returns the ids of its calls. */
function checkChatMessage(message: Fields, at: string, found: Refusals): string[] {
  const { role, content, tool_calls } = message;
  if (role === 'system') found.need(isSpoken(content), 'content_empty', at);
  else if (role === 'user') checkChatContent(content, at, found);
  else if (found.need(role === 'assistant', 'role', at)) {
    found.need(isText(content) || (content === null && tool_calls !== undefined), 'content_missing', at);
    return checkCalls(tool_calls, at, found);
  }
  return [];
}

function checkChatContent(content: Json | undefined, at: string, found: Refusals): void {
  if (isText(content)) {
    found.need(isSpoken(content), 'content_empty', at);
    return;
  }
  const parts = listOf(content).map(fieldsOf);
  found.need(parts.length > 0, 'content_empty', at);
  for (const part of parts) {
    if (part.type === 'text') found.need(isSpoken(part.text), 'content_empty', at);
    else if (part.type === 'image_url') found.need(isFileUrl(fieldsOf(part.image_url).url), 'image', at);
    else if (found.need(part.type === 'file', 'part_type', at)) {
      const { filename, file_data } = fieldsOf(part.file);
      found.need(isSpoken(filename) && isFileUrl(file_data) && String(file_data).includes('/pdf;'), 'file', at);
    }
  }
}

function checkCalls(calls: Json | undefined, at: string, found: Refusals): string[] {
  if (calls === undefined) return [];
  const all = listOf(calls).map(fieldsOf);
  found.need(all.length > 0, 'calls_empty', at);
  const ids = all.map((call) => String(call.id));
  found.need(new Set(ids).size === ids.length, 'call_id_twice', at);
  for (const call of all) {
    const { name, arguments: args } = fieldsOf(call.function);
    found.need(isText(call.id) && call.id.length >= 1 && call.id.length <= 40, 'call_id', at);
    found.need(NAME.test(String(name)), 'call_name', at);
    found.need(isObjectText(args), 'call_arguments', at);
  }
  return ids;
}

/** What a strict server of responses refuses of a request. */
export function refusedByResponses(given: unknown): string[] {
  const found = new Refusals();
  const body = fieldsOf(given);
  const names = checkTools(body.tools, (tool) => tool, found);
  checkCommon(body, names, fieldsOf(body.tool_choice).name, found);
  found.need(isNumberIn(body.max_output_tokens, 16, Infinity), 'max_output_tokens', 'max_output_tokens');
  const items = listOf(body.input).map(fieldsOf);
  found.need(items.length > 0, 'input_empty', 'input');
  const calls = new Set<string>();
  const answers = new Set<string>();
  items.forEach((item, i) => {
    const at = `input.${i}`;
    if (item.type === 'function_call') {
      found.need(/^[\s\S]{1,64}$/.test(String(item.call_id)), 'call_id', at);
      found.need(!calls.has(String(item.call_id)), 'call_id_twice', at);
      found.need(NAME.test(String(item.name)), 'call_name', at);
      found.need(isObjectText(item.arguments), 'call_arguments', at);
      calls.add(String(item.call_id));
    } else if (item.type === 'function_call_output') {
      const id = String(item.call_id);
      found.need(calls.has(id) && !answers.has(id), 'answer_without_call', at);
      answers.add(id);
      if (!isText(item.output)) checkInputParts(item.output, at, found);
    } else if (item.type === 'reasoning') {
      found.need(Array.isArray(item.summary), 'reasoning_summary', at);
      found.need(items[i + 1] !== undefined && fieldsOf(items[i + 1]).role !== 'user', 'reasoning_alone', at);
    } else checkItem(item, at, found);
  });
  for (const id of calls) found.need(answers.has(id), 'calls_unanswered', id);
  return found.all;
}

function checkItem(item: Fields, at: string, found: Refusals): void {
  if (item.role === undefined) {
    found.need(isSpoken(item.type) && isSpoken(item.id), 'item_type', at);
    return;
  }
  found.need(['user', 'assistant', 'system', 'developer'].includes(String(item.role)), 'role', at);
  if (isText(item.content)) found.need(isSpoken(item.content), 'content_empty', at);
  else if (item.role === 'assistant') {
    const parts = listOf(item.content).map(fieldsOf);
    const fits = parts.every((part) => part.type === 'output_text' && isText(part.text));
    found.need(parts.length > 0 && fits, 'content_parts', at);
  } else checkInputParts(item.content, at, found);
}

function checkInputParts(content: Json | undefined, at: string, found: Refusals): void {
  const parts = listOf(content).map(fieldsOf);
  found.need(parts.length > 0, 'content_empty', at);
  for (const part of parts) {
    if (part.type === 'input_text') found.need(isText(part.text), 'content_text', at);
    else if (part.type === 'input_image') found.need(isFileUrl(part.image_url), 'image', at);
    else if (found.need(part.type === 'input_file', 'part_type', at))
      found.need(isSpoken(part.filename) && isFileUrl(part.file_data), 'file', at);
  }
}
