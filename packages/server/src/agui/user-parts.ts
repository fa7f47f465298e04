/** The parts of messages that people send: from requests, and from the transcript. */
import { type Part, readText, type Session } from '@reprise/agent';
import type { InputPart } from '@reprise/contracts';
import { type ContentReader, getErasable } from '@reprise/kernel';
import { getBytes } from '@reprise/kernel/store';
import { bytesOf } from '../sessions/base64.js';
import { Problem } from '../sessions/problem.js';
import type { Conversation } from './conversation.js';
import type { ContentPart } from './events.js';
import { type ClientMessage, messageParts } from './input.js';

/** The largest file that is told inside a message, in bytes. */
const FILE_BYTES_MAX = 1024 * 1024;

/** The longest id of a message that is sent. */
const ID_LENGTH_MAX = 128;

/** What a person sent, for the session. @throws Problem for what is no text and no file */
export function inputOf({ id, content }: ClientMessage): string | readonly Part[] {
  if (id.length > ID_LENGTH_MAX) throw unfit(`The id of a message has at most ${ID_LENGTH_MAX} characters.`);
  if (typeof content === 'string' && content !== '') return content;
  const parsed = messageParts.safeParse(content);
  if (!parsed.success) throw unfit('A message of a person has a text, or 1 to 16 parts.');
  return parsed.data.map(({ type, text, source }) => {
    if (type === 'text' && text !== undefined && text !== '') return text;
    if (source?.type !== 'data' || source.mimeType === undefined)
      throw unfit('A part of a message is a text, or a file in base64 with its type: links are not followed.');
    return { bytes: bytesOf(source.value, 'messages'), mediaType: source.mimeType };
  });
}

function unfit(words: string): Problem {
  return new Problem(400, 'invalid_argument', words, { where: 'messages' });
}

/** Fills the messages of people with all their parts: events tell only the first text. */
export async function fillUsers(
  conversation: Conversation,
  session: Pick<Session, 'transcript'>,
  content: ContentReader,
): Promise<void> {
  const { users } = conversation;
  let n = 0;
  for await (const item of session.transcript()) {
    if (item.role !== 'user') continue;
    const id = users[n++];
    if (id != null && (item.parts.length > 1 || item.parts[0]?.kind === 'blob'))
      conversation.fill(id, await Promise.all(item.parts.map((part) => shownPart(content, part))));
    if (n >= users.length) return;
  }
}

async function shownPart(content: ContentReader, part: InputPart): Promise<ContentPart> {
  if (part.kind === 'text') return { type: 'text', text: await readText(content, part.text_ref) };
  if (part.kind !== 'blob') return { type: 'text', text: `[${part.kind}]` };
  const { blob_ref: ref, media_type: mimeType } = part;
  const bytes = await (part.salted === true ? getErasable(content, ref) : getBytes(content, ref)).catch(
    () => undefined,
  );
  if (bytes === undefined || bytes.length > FILE_BYTES_MAX) return { type: 'text', text: `[${mimeType} ${ref}]` };
  return { type: kindOf(mimeType), source: { type: 'data', value: Buffer.from(bytes).toString('base64'), mimeType } };
}

function kindOf(mimeType: string): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}
