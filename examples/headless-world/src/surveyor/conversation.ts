/** A chat completions request as the surveyor reads it: the messages, its calls, and their results. */

/** One tool call and its result. */
export interface Exchange {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly output: string;
}

/** The content of a request. */
export interface Conversation {
  /** The user's messages, oldest first. */
  readonly asked: readonly string[];
  /** The number of answers so far. */
  readonly steps: number;
  readonly exchanges: readonly Exchange[];
  /** The names of the available tools. */
  readonly tools: ReadonlySet<string>;
}

/** A request that violates the format, with the message that a provider would send. */
export class BadRequest extends Error {}

/**
 * Reads a request, as strictly as the providers of this format do.
 *
 * @throws BadRequest
 */
export function readConversation(body: unknown): Conversation {
  const { messages, tools } = record(body, 'the body');
  const asked: string[] = [];
  const exchanges: Exchange[] = [];
  let steps = 0;
  let due: { id: string; tool: string; args: Record<string, unknown> }[] = [];
  for (const [i, item] of list(messages, 'messages').entries()) {
    const message = record(item, `messages.${i}`);
    if (message.role === 'tool') {
      const call = due.shift();
      if (call === undefined || call.id !== message.tool_call_id) {
        throw new BadRequest(`messages.${i}: a tool message must answer a call of the assistant message before it`);
      }
      exchanges.push({ tool: call.tool, args: call.args, output: text(message.content, `messages.${i}.content`) });
      continue;
    }
    if (due.length > 0) throw new BadRequest(`messages.${i}: tool calls before it have no answer`);
    if (message.role === 'user') asked.push(text(message.content, `messages.${i}.content`));
    else if (message.role === 'assistant') {
      steps += 1;
      due = list(message.tool_calls ?? [], 'tool_calls').map(readCall);
    } else if (message.role !== 'system') throw new BadRequest(`messages.${i}: unknown role`);
  }
  if (due.length > 0) throw new BadRequest('tool calls at the end have no answer');
  if (asked.length + steps === 0) throw new BadRequest('there is nothing to answer');
  return { asked, steps, exchanges, tools: new Set(list(tools ?? [], 'tools').map(toolName)) };
}

function readCall(item: unknown): { id: string; tool: string; args: Record<string, unknown> } {
  const call = record(item, 'a tool call');
  const called = record(call.function, 'function');
  const id = text(call.id, 'id');
  try {
    return {
      id,
      tool: text(called.name, 'name'),
      args: record(JSON.parse(text(called.arguments, 'arguments')), 'arguments'),
    };
  } catch (error) {
    throw error instanceof BadRequest ? error : new BadRequest('arguments: not JSON');
  }
}

function toolName(item: unknown): string {
  return text(record(record(item, 'a tool').function, 'function').name, 'name');
}

function record(thing: unknown, what: string): Record<string, unknown> {
  if (typeof thing === 'object' && thing !== null && !Array.isArray(thing)) return thing as Record<string, unknown>;
  throw new BadRequest(`${what}: an object is expected`);
}

function list(thing: unknown, what: string): unknown[] {
  if (Array.isArray(thing)) return thing;
  throw new BadRequest(`${what}: a list is expected`);
}

function text(thing: unknown, what: string): string {
  if (typeof thing === 'string') return thing;
  throw new BadRequest(`${what}: text is expected`);
}
