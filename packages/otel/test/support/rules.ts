/**
 * What the conventions require of spans, written from their tables and not from the code: the attributes that are required, those
 * that are under a condition that the journal can meet, and what makes a trace whole.
 */
import type { Span } from '../../src/trace/span.js';

/** An attribute that an operation has, and its type. */
type Required = Readonly<Record<string, 'string' | 'number' | 'strings'>>;

const AGENT: Required = {
  'gen_ai.operation.name': 'string',
  'gen_ai.provider.name': 'string',
  'gen_ai.agent.name': 'string',
  'gen_ai.agent.version': 'string',
  'gen_ai.conversation.id': 'string',
  'gen_ai.request.model': 'string',
};
const { 'gen_ai.agent.version': _, ...CHAT } = AGENT;
const MEMORY: Required = { 'gen_ai.operation.name': 'string', 'gen_ai.memory.store.id': 'string' };

/** By operation: what each of its spans has. */
const REQUIRED: Readonly<Record<string, Required>> = {
  invoke_agent: AGENT,
  chat: CHAT,
  execute_tool: {
    'gen_ai.operation.name': 'string',
    'gen_ai.tool.name': 'string',
    'gen_ai.tool.call.id': 'string',
    'gen_ai.tool.type': 'string',
    'gen_ai.agent.name': 'string',
    'gen_ai.conversation.id': 'string',
  },
  invoke_workflow: { 'gen_ai.operation.name': 'string', 'gen_ai.workflow.name': 'string' },
  create_memory: MEMORY,
  update_memory: { ...MEMORY, 'gen_ai.memory.record.id': 'string' },
  search_memory: MEMORY,
};

const NAMES: Readonly<Record<string, string>> = {
  invoke_agent: 'gen_ai.agent.name',
  chat: 'gen_ai.request.model',
  execute_tool: 'gen_ai.tool.name',
  invoke_workflow: 'gen_ai.workflow.name',
};

/** What is wrong with the spans of one whole journal, its open ones included. */
export function problemsIn(spans: readonly Span[]): string[] {
  return [...spans.flatMap(problemsOf), ...problemsOfTraces(spans)];
}

function problemsOf(span: Span): string[] {
  const { attributes, name } = span;
  const operation = String(attributes['gen_ai.operation.name']);
  const required = REQUIRED[operation];
  const about = `${name} (${String(attributes['reprise.begun'])})`;
  if (required === undefined) return [`${about}: no operation of the conventions`];
  const problems = Object.entries(required).flatMap(([key, type]) => {
    const found = attributes[key];
    const fits = type === 'strings' ? Array.isArray(found) : typeof found === type;
    return fits && found !== '' ? [] : [`${about}: ${key} is ${String(found)}`];
  });
  const named = NAMES[operation];
  const wanted = named === undefined ? operation : `${operation} ${String(attributes[named])}`;
  if (name !== wanted) problems.push(`${about}: its name is not "${wanted}"`);
  if ((operation === 'chat') !== (span.kind === 'client')) problems.push(`${about}: its kind is ${span.kind}`);
  // error.type is there exactly when the operation ended in an error.
  if (span.isError !== (typeof attributes['error.type'] === 'string')) problems.push(`${about}: error.type`);
  if ('gen_ai.response.time_to_first_chunk' in attributes !== (attributes['gen_ai.request.stream'] === true))
    problems.push(`${about}: a streamed answer says when it began`);
  if ('server.address' in attributes && !('server.port' in attributes))
    problems.push(`${about}: a server without a port`);
  if (span.endMs < span.startMs) problems.push(`${about}: ends before it begins`);
  if (!/^[0-9a-f]{32}$/.test(span.traceId) || !/^[0-9a-f]{16}$/.test(span.spanId)) problems.push(`${about}: its ids`);
  return problems;
}

function problemsOfTraces(spans: readonly Span[]): string[] {
  const problems: string[] = [];
  const byId = new Map<string, Span>();
  const roots = new Map<string, string>();
  for (const span of spans) {
    if (byId.has(span.spanId)) problems.push(`${span.name}: its id is given twice`);
    byId.set(span.spanId, span);
    if (span.parentSpanId !== null) continue;
    if (roots.has(span.traceId)) problems.push(`${span.name}: a second first span of a trace`);
    roots.set(span.traceId, span.spanId);
  }
  for (const span of spans) {
    const parent = span.parentSpanId === null ? undefined : byId.get(span.parentSpanId);
    if (!roots.has(span.traceId)) problems.push(`${span.name}: its trace has no first span`);
    if (span.parentSpanId === null) continue;
    if (parent === undefined) problems.push(`${span.name} (${String(span.attributes['reprise.begun'])}): an orphan`);
    else if (parent.traceId !== span.traceId) problems.push(`${span.name}: in another trace than its parent`);
    else if (parent.startMs > span.startMs) problems.push(`${span.name}: begins before its parent`);
  }
  return problems;
}
