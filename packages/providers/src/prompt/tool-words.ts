/** The text of a tool call in a prompt: its result, or whether the call may have happened. */
import type { Artifact, ChildResult, NonExecution, OwnerReply, TranscriptItem } from '@reprise/agent';
import type { DroppedCalls } from '@reprise/contracts';
import type { UnifiedMedia } from '../model/model.js';
import { headOf } from '../model/text.js';
import { CHILD_BYTES_MAX, CHILDREN_BYTES_MAX } from './bounds.js';
import type { MediaRoom } from './media.js';
import { type TranscriptReader, textOfValue, wordsFor } from './reader.js';

type ToolItem = TranscriptItem & { readonly role: 'tool' };
type LateItem = TranscriptItem & { readonly role: 'late' };

/** The text of a call. */
export async function toolText(item: ToolItem, reader: TranscriptReader): Promise<string> {
  const told: string[] = [];
  if (item.edited_args_ref !== undefined) {
    const read = await reader.value(item.edited_args_ref);
    const args = 'found' in read ? textOfValue(read.found) : wordsFor(read.gone);
    told.push(`It ran with these arguments instead, which were changed before it was approved: ${args}`);
  }
  if (item.note_ref !== undefined)
    told.push(`Note on the decision about this call: ${await reader.text(item.note_ref)}`);
  if (item.non_execution !== undefined) told.push(nonExecutionText(item.non_execution));
  if (item.output_ref !== undefined) told.push(await reader.text(item.output_ref));
  for (const file of item.files ?? []) told.push(fileLine(file));
  if (item.answer !== undefined) told.push(...(await ownerTexts(item.answer, reader)));
  const children = item.children ?? [];
  const room = Math.min(CHILD_BYTES_MAX, Math.floor(CHILDREN_BYTES_MAX / Math.max(1, children.length)));
  for (const child of children) told.push(await childText(child, reader, room));
  return told.join('\n\n');
}

/** The images and documents among the files that a call made. */
export async function toolMedia(item: ToolItem, reader: TranscriptReader, room: MediaRoom): Promise<UnifiedMedia[]> {
  const shown: UnifiedMedia[] = [];
  for (const { blob_ref: link, media_type: mediaType, path: name } of item.files ?? []) {
    const media = await room.show({ link, mediaType, name }, reader);
    if (media !== undefined) shown.push(media);
  }
  return shown;
}

/** The text of a call without an output. */
function nonExecutionText({ kind, code }: NonExecution): string {
  const why = code === undefined ? '' : ` (${code})`;
  const told: Record<NonExecution['kind'], string> = {
    denied: `This call was refused and did not happen${why}.`,
    cancelled: `This call was cancelled and did not happen${why}.`,
    interrupted: `This call was interrupted${why}. It may have happened in part; check before you repeat it.`,
    outcome_unknown: `The outcome of this call is unknown${why}. It may have happened; check before you repeat it.`,
    completed_late: `This call was given up on, and was answered after all${why}; what it came to is told further down.`,
    failed: `This call failed and gave no result${why}.`,
  };
  return told[kind];
}

const LATE: Readonly<Record<LateItem['status'], string>> = {
  ok: 'it did happen',
  error: 'it failed',
  timeout: 'it did not end in time, and may have happened in part',
  denied: 'it was refused and did not happen',
  cancelled: 'it was stopped',
  outcome_unknown: 'its outcome remains unknown',
};

/** The notice after the results about calls beyond the number that one answer may make. */
export function droppedText({ count, tools }: DroppedCalls, made: number): string {
  const calls = count === 1 ? '1 call' : `${count} calls`;
  const of = tools.length === 0 ? '' : ` (of ${tools.join(', ')})`;
  return `Automatic notice, not written by the user: the answer above asked for more calls than one answer may make. Only its first ${made} count; ${calls} behind them${of} did not happen. Ask again for what you still need.`;
}

/** The text of a late result, at its position in the conversation, of a call that was first reported without one. */
export async function lateText(item: LateItem, reader: TranscriptReader): Promise<string> {
  const said = `Automatic notice, not written by the user: the call of ${item.tool} (${item.call_id}) that was reported above without a result has been answered after all: ${LATE[item.status]}.`;
  return item.output_ref === undefined ? said : `${said}\n\n${await reader.text(item.output_ref)}`;
}

/** The line for a linked file. */
function fileLine({ path, media_type, bytes, blob_ref }: Artifact): string {
  return `[file ${path}: ${media_type}, ${bytes} bytes, ${blob_ref}]`;
}

/** The answer of the session's owner: its value as JSON, and the beginning of each linked content. */
async function ownerTexts({ value, refs }: OwnerReply, reader: TranscriptReader): Promise<string[]> {
  const room = Math.min(CHILD_BYTES_MAX, Math.floor(CHILDREN_BYTES_MAX / Math.max(1, refs.length)));
  const texts = refs.map(async ({ label, ref }) => `${label}:\n${headOf(await reader.words(ref), room)}`);
  return [textOfValue(value), ...(await Promise.all(texts))];
}

async function childText(child: ChildResult, reader: TranscriptReader, bytesMax: number): Promise<string> {
  const code = child.code === undefined ? '' : ` (${child.code})`;
  const head = `Agent ${child.agent} (${child.child}): ${child.status}${code}.`;
  const link = child.value_ref ?? child.output_ref;
  return link === undefined ? head : `${head}\n${headOf(await reader.words(link), bytesMax)}`;
}
