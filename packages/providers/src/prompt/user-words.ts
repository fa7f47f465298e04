/** The text of user messages in a prompt: texts, linked content, and the speaker when it is not the user. */
import type { TranscriptItem } from '@reprise/agent';
import type { InputPart } from '@reprise/contracts';
import { headOf } from '../model/text.js';
import { VIEW_FULL_BYTES_MAX, VIEW_SUMMARY_BYTES_MAX } from './bounds.js';
import type { Said } from './lay-out.js';
import type { MediaRoom } from './media.js';
import type { TranscriptReader } from './reader.js';

type UserItem = TranscriptItem & { readonly role: 'user' };

const VIEW_BYTES_MAX = { full: VIEW_FULL_BYTES_MAX, summary: VIEW_SUMMARY_BYTES_MAX } as const;

const NOTICE = 'Automatic notice, not written by the user:';

/** The words before the parts when the speaker is not the user. */
const SPEAKERS: Readonly<Record<UserItem['origin'], string | undefined>> = {
  input: undefined,
  follow_up: undefined,
  steer: undefined,
  loop: NOTICE,
  repair: NOTICE,
  parent: 'From the agent that started you:',
};

/** The content of a user item. */
export async function userSays(item: UserItem, reader: TranscriptReader, room: MediaRoom): Promise<Said[]> {
  const speaker = SPEAKERS[item.origin];
  const says: Said[] = speaker === undefined ? [] : [speaker];
  for (const part of item.parts) says.push((await shown(part, reader, room)) ?? (await partText(part, reader)));
  return says;
}

/** An image cannot be shown in part: only a full view shows it, any other view describes it. */
async function shown(part: InputPart, reader: TranscriptReader, room: MediaRoom): Promise<Said | undefined> {
  if (part.kind !== 'blob' || part.view !== 'full' || isReadable(part.media_type)) return undefined;
  const { blob_ref: link, media_type: mediaType } = part;
  return room.show({ link, mediaType, name: part.name ?? 'file' }, reader);
}

async function partText(part: InputPart, reader: TranscriptReader): Promise<string> {
  if (part.kind === 'text') return reader.text(part.text_ref);
  if (part.kind === 'result') {
    return `Result of the agent ${part.child}:\n${viewOf(await reader.words(part.output_ref), part.view)}`;
  }
  const name = part.name ?? part.blob_ref.toString();
  if (!isReadable(part.media_type)) return `[file ${name}: ${part.media_type}, ${part.blob_ref}]`;
  const text = await (part.salted === true ? reader.saltedText(part.blob_ref) : reader.text(part.blob_ref));
  return `File ${name} (${part.media_type}):\n${viewOf(text, part.view)}`;
}

function viewOf(text: string, view: 'full' | 'summary' | { readonly head: number }): string {
  return headOf(text, typeof view === 'string' ? VIEW_BYTES_MAX[view] : view.head);
}

/** Whether content of this type is text: other content is named, not shown. */
function isReadable(mediaType: string): boolean {
  return /^text\/|[/+](json|xml|yaml|toml|javascript|typescript|x-sh|sql|graphql)\s*(;|$)/i.test(mediaType);
}
