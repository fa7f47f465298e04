/**
 * Snapshots of a conversation, and whether a client needs one.
 *
 * A client keeps reasoning that a snapshot does not name, and never moves a message. So reasoning that does not count is named
 * with an empty text, and a client whose messages stand in another order is first told to have no messages.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AgUiEvent, Message } from './events.js';
import type { ClientMessage } from './input.js';

/** What a client has of the conversation. */
export class ClientHistory {
  readonly #reasoning = new Set<string>();
  readonly #told: readonly object[];
  /** Whether a snapshot replaced what the client had. */
  #wasCorrected = false;
  readonly #ids: readonly string[];

  constructor(messages: readonly ClientMessage[]) {
    const spoken = messages.filter(({ role }) => ROLES.includes(role));
    this.#told = spoken.map(comparable);
    this.#ids = spoken.map(({ id }) => id);
    for (const { role, id } of messages) if (role === 'reasoning') this.#reasoning.add(id);
  }

  /** Notes reasoning that the client is told. */
  heard(event: AgUiEvent): void {
    if (event.type === 'REASONING_START') this.#reasoning.add(event.messageId);
  }

  /** The snapshots that a client needs before it is told more; none when it has exactly these messages. @param unsent its own */
  *corrections(recorded: readonly Message[], unsent: readonly ClientMessage[] = []): Generator<AgUiEvent> {
    const messages = [...recorded, ...(unsent as readonly Message[])];
    const spoken = messages.filter(({ role }) => role !== 'reasoning');
    const hasGhosts = this.#ghosts(messages).length > 0;
    if (!this.#wasCorrected && !hasGhosts && isDeepStrictEqual(spoken.map(comparable), this.#told)) return;
    const ids = spoken.map(({ id }) => id);
    const known = this.#ids.filter((id) => ids.includes(id));
    if (known.some((id, place) => id !== ids[place])) yield { type: 'MESSAGES_SNAPSHOT', messages: [] };
    yield this.snapshot(messages);
  }

  /** A snapshot of these messages. */
  snapshot(messages: readonly Message[]): AgUiEvent {
    this.#wasCorrected = true;
    return { type: 'MESSAGES_SNAPSHOT', messages: [...this.#ghosts(messages), ...messages] };
  }

  /** Reasoning that the client has and that does not count. */
  #ghosts(messages: readonly Message[]): readonly Message[] {
    const ids = new Set(messages.map(({ id }) => id));
    return [...this.#reasoning].filter((id) => !ids.has(id)).map((id) => ({ id, role: 'reasoning', content: '' }));
  }
}

const ROLES: readonly string[] = ['user', 'assistant', 'tool'];

/** What is compared: a message of several parts by their texts, since a client may keep files in another form. */
function comparable({ id, role, content, ...rest }: ClientMessage | Message): object {
  const { toolCallId, toolCalls = [] } = rest as Pick<ClientMessage, 'toolCallId' | 'toolCalls'>;
  const calls = toolCalls.map(({ id: call, function: made }) => [call, made.name, made.arguments]);
  return { id, role, text: textOf(content), calls, toolCallId };
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content.map((part: { readonly type?: unknown; readonly text?: unknown }) => part.text ?? '').join('');
}
