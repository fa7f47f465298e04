/** Reads the requests of a chat page. */
import type { Part } from '@reprise/agent';
import { RepriseError, startOfText } from '@reprise/contracts';

/** A person's input on a chat page. */
export interface ChatInput {
  /** The page's own id of the chat; use it to find the session. */
  readonly chat: string;
  /**
   * The page's own id of the message. Used as the command's id, it keeps a repeated request from becoming a second
   * input.
   */
  readonly id: string;
  readonly input: readonly Part[];
}

const ID = /^[\w.:-]{1,128}$/;

/**
 * Reads the body of a `useChat` request: its last message, which the person wrote.
 *
 * @throws RepriseError `invalid_argument` for any other body: the client may send anything
 * @example
 * const { id, input } = readChatInput(await request.json())
 * return uiMessageResponse(await session.send(input, { id }))
 */
export function readChatInput(body: unknown): ChatInput {
  const { id: chat, messages } = record(body);
  const message = record(Array.isArray(messages) ? messages.at(-1) : undefined);
  const { id, role, parts } = message;
  if (typeof chat !== 'string' || !ID.test(chat)) throw wrong('an id of the chat', 'id', chat);
  if (role !== 'user') throw wrong('a message of a user at the end', 'messages', role);
  if (typeof id !== 'string' || !ID.test(id)) throw wrong('a message with an id', 'messages', id);
  const input = (Array.isArray(parts) ? parts : []).flatMap(partOf);
  if (input.length === 0) throw wrong('a message with a text or a file', 'messages', parts);
  return { chat, id, input };
}

function partOf(given: unknown): Part[] {
  const { type, text, url, mediaType, filename } = record(given);
  if (type === 'text' && typeof text === 'string' && text !== '') return [text];
  if (type !== 'file' || typeof url !== 'string' || typeof mediaType !== 'string') return [];
  const bytes = bytesIn(url);
  return [{ bytes, mediaType, ...(typeof filename === 'string' ? { name: startOfText(filename, 256) } : {}) }];
}

/** Reads a file that is embedded in the message. */
function bytesIn(url: string): Uint8Array {
  const [, base64] = url.match(/^data:[^,]*;base64,([A-Za-z0-9+/=]*)$/) ?? [];
  if (base64 === undefined) throw wrong('a file as a data: address in base64', 'messages', startOfText(url, 64));
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function record(given: unknown): Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null ? (given as Readonly<Record<string, unknown>>) : {};
}

function wrong(expected: string, where: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_argument', 'invalid request of a chat page', { where, expected, actual });
}
