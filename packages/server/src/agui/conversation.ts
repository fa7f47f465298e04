/**
 * The conversation of a session as a client of AG-UI keeps it: a fold of the session's events.
 *
 * Invariants
 * V1  The ids of messages and calls follow from the journal alone: a message of a person has the id that it was sent with, an
 *     answer that of its step, a call that of its step and its own, since a model may use the id of a call again.
 * V2  What is folded from all events at once is what a client assembles from their stream.
 */
import type { AgentEvent, AgentEventOf } from '@reprise/agent';
import { jsonText } from '../sessions/json.js';
import type { ContentPart, Message, ToolCall } from './events.js';

/** The largest text of an event that is told; a larger one is replaced by its link. */
export const INLINE_BYTES_MAX = 4 * 1024 * 1024;

/** Messages in the user's role that were sent. The others are words of the session to its model. */
const SENT: readonly string[] = ['input', 'follow_up', 'steer', 'parent'];

type Assistant = Message & { readonly role: 'assistant' };

/** The id of a call in a conversation (V1). */
export function callIdOf({ step_id, run_id, session_id }: AgentEvent, call: string): string {
  return `${step_id ?? run_id ?? session_id}/${call}`;
}

/** The id of the message of a step's reasoning. */
export const reasoningIdOf = (step: string): string => `${step}/reasoning`;

/** The messages of one session so far. */
export class Conversation {
  #messages: Message[] = [];
  readonly #texts = new Map<string, string>();
  /** The ids of messages in the user's role, in the order of the transcript; null for words of the session itself. */
  readonly #users: (string | null)[] = [];

  constructor(private readonly session: string) {}

  /** The messages, each as far as it is final. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** The ids of messages in the user's role, in the order of the transcript; null for words of the session itself. */
  get users(): readonly (string | null)[] {
    return this.#users;
  }

  /** Whether a message is in the conversation. */
  has(id: string): boolean {
    return this.#messages.some((one) => one.id === id);
  }

  /** Puts a person's message in the form that it was sent in. */
  fill(id: string, content: string | readonly ContentPart[]): void {
    this.#messages = this.#messages.map((one) => (one.id === id && one.role === 'user' ? { ...one, content } : one));
  }

  take(event: AgentEvent): void {
    if (event.session_id !== this.session) return;
    switch (event.type) {
      case 'input.accepted':
      case 'command.accepted':
        if (event.text !== undefined) this.#texts.set(event.command_id, event.text);
        return;
      case 'turn.started':
        this.#said(event);
        return;
      case 'llm_step.completed':
        this.#answered(event);
        return;
      case 'tool.requested':
        this.#called(event);
        return;
      case 'tool.completed':
      case 'tool.failed':
        this.#settled(event);
        return;
      default:
        return;
    }
  }

  /** A retry begins a turn with a message that the model was shown before. */
  #said({ origin, command_id, turn_id, run_id }: AgentEventOf<'turn.started'>): void {
    const id = command_id ?? turn_id ?? run_id ?? this.session;
    if (this.#users.includes(id)) return;
    this.#users.push(SENT.includes(origin) ? id : null);
    if (SENT.includes(origin))
      this.#messages.push({ id, role: 'user', content: this.#texts.get(command_id ?? '') ?? '' });
  }

  #answered({ step_id, text, reasoning }: AgentEventOf<'llm_step.completed'>): void {
    if (step_id === null) return;
    if (reasoning !== undefined)
      this.#messages.push({ id: reasoningIdOf(step_id), role: 'reasoning', content: reasoning });
    if (text !== undefined && text !== '') this.#messages.push({ id: step_id, role: 'assistant', content: text });
  }

  #called(event: AgentEventOf<'tool.requested'>): void {
    const id = event.step_id ?? '';
    const place = this.#messages.findIndex((one) => one.id === id);
    const found = this.#messages[place] as Assistant | undefined;
    const message: Assistant = found ?? { id, role: 'assistant' };
    const changed = { ...message, toolCalls: [...(message.toolCalls ?? []), toolCallOf(event)] };
    if (found === undefined) this.#messages.push(changed);
    else this.#messages[place] = changed;
  }

  #settled(event: AgentEventOf<'tool.completed'> | AgentEventOf<'tool.failed'>): void {
    const { messageId: id, toolCallId, content } = resultOf(event);
    if (this.has(id)) return;
    const caller = this.#messages.findIndex(
      (one) => one.role === 'assistant' && one.toolCalls?.some((call) => call.id === toolCallId),
    );
    if (caller < 0) return; // it was cancelled before it was requested
    let place = caller + 1;
    while (this.#messages[place]?.role === 'tool') place += 1;
    this.#messages.splice(place, 0, { id, role: 'tool', toolCallId, content });
  }
}

/** A call as clients keep it. Arguments that are too large to be told are their link. */
export function toolCallOf(event: AgentEventOf<'tool.requested'>): ToolCall {
  const { tool: name, args = { $ref: event.ref } } = event;
  return { id: callIdOf(event, event.call_id), type: 'function', function: { name, arguments: jsonText(args) } };
}

/** The result of a call, as its model reads it. */
export function resultOf(event: AgentEventOf<'tool.completed'> | AgentEventOf<'tool.failed'>): {
  readonly messageId: string;
  readonly toolCallId: string;
  readonly content: string;
} {
  const toolCallId = callIdOf(event, event.call_id);
  return { messageId: `${toolCallId}/result`, toolCallId, content: contentOf(event) };
}

function contentOf(event: AgentEventOf<'tool.completed'> | AgentEventOf<'tool.failed'>): string {
  const { text, answer, ref } = event;
  if (text !== undefined) return text;
  if (answer !== undefined) return typeof answer.value === 'string' ? answer.value : jsonText(answer.value);
  if (ref !== undefined) return jsonText({ $ref: ref });
  if (event.type === 'tool.completed') return 'The subagents answer for themselves.';
  const { kind } = event.non_execution ?? {};
  const why = [kind, event.code].filter((word) => word != null).join(': ');
  return why === '' ? 'The call has no result.' : `The call has no result (${why}).`;
}
