/** The text of user messages in a prompt: texts, linked content, and the speaker when it is not the user. */
import type { TranscriptItem } from '@reprise/agent';
import {
  authored,
  type InputPart,
  type Marked,
  notice,
  own,
  type PartyName,
  paragraphs,
  party,
  said,
} from '@reprise/contracts';
import type { UnifiedMedia } from '../model/model.js';
import { startOf } from '../model/text.js';
import { VIEW_FULL_BYTES_MAX, VIEW_SUMMARY_BYTES_MAX } from './bounds.js';
import { fileLine } from './file-line.js';
import type { Said } from './lay-out.js';
import type { MediaRoom, Unshown } from './media.js';
import type { TranscriptReader } from './reader.js';

type UserItem = TranscriptItem & { readonly role: 'user' };

const VIEW_BYTES_MAX = { full: VIEW_FULL_BYTES_MAX, summary: VIEW_SUMMARY_BYTES_MAX } as const;

/** Who wrote the parts when it is not the user. */
const SPEAKERS: Readonly<Record<UserItem['origin'], PartyName | undefined>> = {
  input: undefined,
  follow_up: undefined,
  steer: undefined,
  loop: party`runtime`,
  repair: party`runtime`,
  parent: party`parent`,
};

/** Stands before the words of the agent above: these are to be followed. */
const FROM_PARENT = notice(own`The agent that started you says what to do:`);

/** The content of a user item. */
export async function userSays(item: UserItem, reader: TranscriptReader, room: MediaRoom): Promise<Said[]> {
  const speaker = SPEAKERS[item.origin];
  const says: Said[] = item.origin === 'parent' ? [FROM_PARENT] : [];
  for (const part of item.parts) {
    const media = await shown(part, reader, room);
    says.push(media.kind === 'media' ? media : await partText(part, { speaker, unshown: media }, reader, room));
  }
  return says;
}

/**
 * An image cannot be shown in part: only a full view shows it, any other view describes it.
 *
 * @returns the image; otherwise why it is not shown, if its reason is to be said
 */
async function shown(part: InputPart, reader: TranscriptReader, room: MediaRoom): Promise<UnifiedMedia | Unshown> {
  const none: Unshown = { kind: 'unshown' };
  if (part.kind !== 'blob') return none;
  const { blob_ref: link, media_type: mediaType, declared_type: declared, salted } = part;
  const isWords = part.view !== 'full' || (isReadable(mediaType) && declared === undefined);
  if (isWords && !room.isDropped(link)) return none;
  return room.show({ link, mediaType, declared, salted, name: part.name ?? 'file' }, 'user', reader);
}

/**
 * The text of a part. The user's own texts stand as they are: those that a part of the world has composed hold marks of
 * their own.
 */
async function partText(
  part: InputPart,
  { speaker: by, unshown: { why } }: { readonly speaker: PartyName | undefined; readonly unshown: Unshown },
  reader: TranscriptReader,
  room: MediaRoom,
): Promise<Marked> {
  if (part.kind === 'text') {
    const text = await reader.text(part.text_ref);
    return by === undefined ? authored(text) : said(by, text);
  }
  if (part.kind === 'result') {
    return viewOf(party`result of agent: ${part.child}`, await reader.words(part.output_ref), part.view);
  }
  const { name = part.blob_ref.toString(), media_type, declared_type, bytes, blob_ref } = part;
  const line = fileLine({ path: name, media_type, declared_type, bytes, blob_ref }, why);
  if (!isReadable(media_type) || room.isDropped(blob_ref)) return line;
  const text = await (part.salted === true ? reader.saltedText(blob_ref) : reader.text(blob_ref));
  const words = viewOf(party`file of type ${media_type}: ${name}`, text, part.view);
  return declared_type === undefined ? words : paragraphs([line, words]);
}

type View = 'full' | 'summary' | { readonly head: number };

function viewOf(by: PartyName, text: string, view: View): Marked {
  const { start, note } = startOf(text, typeof view === 'string' ? VIEW_BYTES_MAX[view] : view.head);
  return said(by, start, note);
}

/** Whether content of this type is text: other content is named, not shown. */
function isReadable(mediaType: string): boolean {
  return /^text\/|[/+](json|xml|yaml|toml|javascript|typescript|x-sh|sql|graphql)\s*(;|$)/i.test(mediaType);
}
