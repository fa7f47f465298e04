/** Reads the requests of a chat page. */
import type { Part, Run, SendOptions, Session } from '@reprise/agent';
import { isFields, isFilled, RepriseError, requireArgument, requireMethods, startOfText } from '@reprise/contracts';

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
  /** What the person did: sent a new message, edited one that was sent before, or asked for another answer to it. */
  readonly act: 'send' | 'edit' | 'retry';
}

const ID = /^[\w.:-]{1,128}$/;

/**
 * Reads the body of a `useChat` request: its last message, which the person wrote.
 *
 * @throws RepriseError `invalid_argument` for any other body: the client may send anything
 * @example
 * const chat = readChatInput(await request.json())
 * return uiMessageResponse(await answerChatInput(world.session(chat.chat, agent), chat))
 */
export function readChatInput(body: unknown): ChatInput {
  const { id: chat, messages, trigger, messageId } = record(body);
  const message = record(Array.isArray(messages) ? messages.at(-1) : undefined);
  const { id, role, parts } = message;
  if (typeof chat !== 'string' || !ID.test(chat)) throw wrong('an id of the chat', 'id', chat);
  if (role !== 'user') throw wrong('a message of a user at the end', 'messages', role);
  if (typeof id !== 'string' || !ID.test(id)) throw wrong('a message with an id', 'messages', id);
  const input = (Array.isArray(parts) ? parts : []).flatMap(partOf);
  if (input.length === 0) throw wrong('a message with a text or a file', 'messages', parts);
  return { chat, id, input, act: trigger === 'regenerate-message' ? 'retry' : messageId === id ? 'edit' : 'send' };
}

/**
 * Answers what a person did on a chat page, as they expect it:
 *
 * - A new message is an input under its id; sent again, it is the same input.
 * - A message that was edited under its id is a new input. What was answered to its earlier words stays in the conversation.
 * - Retry answers the message anew: after a failed or cancelled run by `session.retry()`, after an answer that is complete by the
 *   same words as a new input. While the message is being answered, it returns that run.
 *
 * Each act takes place once, however often its request arrives.
 *
 * @throws RepriseError what `Session.send` and `Session.retry` throw
 */
export async function answerChatInput<R>(
  session: Pick<Session<R>, 'send' | 'retry' | 'run' | 'state'>,
  chat: ChatInput,
  options: Pick<SendOptions, 'as' | 'actor'> = {},
): Promise<Run<R>> {
  requireMethods(
    session,
    ['send', 'retry', 'run', 'state'],
    'answerChatInput(session)',
    'a session, from world.session',
  );
  const fits = isFields(chat) && isFilled(chat.id) && Array.isArray(chat.input);
  requireArgument(fits, 'answerChatInput(chat)', 'what readChatInput returned', chat);
  const { id, input, act } = chat;
  if (act === 'send') return session.send([...input], { ...options, id });
  if (act === 'edit') return session.send([...input], { ...options, id: `${id}~${await digestOf(input)}` });
  const { run, asked, last } = (await session.state()) ?? {};
  const isAsked = asked != null && (asked.command_id === id || asked.command_id.startsWith(`${id}~`));
  if (!isAsked || last === undefined)
    return session.send([...input], { ...options, id: `${id}~${await digestOf(input)}` });
  const under = run == null ? undefined : await session.run(run.number);
  if (under !== undefined) return under;
  if (last !== null && last.stop.kind !== 'Completed') return session.retry({ ...options, id: `retry.${last.run}` });
  return session.send([...input], { ...options, id: `${id}~r${last?.run ?? 0}` });
}

/** A digest of a message: its texts and files. */
async function digestOf(input: readonly Part[]): Promise<string> {
  const bytes = new TextEncoder().encode(
    JSON.stringify(input, (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value)),
  );
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function partOf(given: unknown): Part[] {
  const { type, text, url, mediaType, filename } = record(given);
  if (type === 'text' && typeof text === 'string' && text !== '') return [text];
  if (type !== 'file' || typeof url !== 'string' || typeof mediaType !== 'string') return [];
  const bytes = bytesIn(url);
  // A browser gives no type for files that it does not know.
  return [
    {
      bytes,
      mediaType: mediaType || 'application/octet-stream',
      ...(typeof filename === 'string' ? { name: startOfText(filename, 256) } : {}),
    },
  ];
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
