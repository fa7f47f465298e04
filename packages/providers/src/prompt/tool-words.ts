/** The text of a tool call in a prompt: its result, or whether the call may have happened. */
import type { ChildResult, NonExecution, OwnerReply, TranscriptItem } from '@reprise/agent';
import {
  bare,
  type DroppedCalls,
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
import { CHILD_BYTES_MAX, CHILDREN_BYTES_MAX } from './bounds.js';
import { fileLine } from './file-line.js';
import type { MediaRoom } from './media.js';
import { type TranscriptReader, textOfValue, wordsFor } from './reader.js';

type ToolItem = TranscriptItem & { readonly role: 'tool' };
type LateItem = TranscriptItem & { readonly role: 'late' };

/** Why files are not shown, by their index. */
type Reasons = ReadonlyMap<number, string>;

/** A piece of the text of a call: of the runtime, or words of the tool (without a party) or of another party. */
type Piece = Marked | { readonly by?: PartyName; readonly words: string; readonly bytesMax?: number };

/**
 * The text of a call. The tool's own words stand without marks; notices of the runtime and words of others are marked.
 *
 * @param how `bytesMax`: the bytes of all words together, if they are bounded; `unshown`: why files are not shown
 */
export async function toolText(
  item: ToolItem,
  reader: TranscriptReader,
  { bytesMax, unshown }: { readonly bytesMax?: number | undefined; readonly unshown?: Reasons } = {},
): Promise<Marked> {
  let left = bytesMax ?? Number.POSITIVE_INFINITY;
  const texts: Marked[] = [];
  for (const piece of await piecesOf(item, reader, unshown)) {
    if (typeof piece === 'string') {
      texts.push(piece);
      continue;
    }
    const { start, note, bytes } = startOf(piece.words, Math.min(left, piece.bytesMax ?? left));
    left -= bytes;
    texts.push(piece.by === undefined ? bare(start) : said(piece.by, start, note));
    if (piece.by === undefined && note.shown !== undefined) texts.push(notice(own`Shown are ${note.shown}.`));
  }
  return paragraphs(texts);
}

async function piecesOf(item: ToolItem, reader: TranscriptReader, unshown: Reasons = new Map()): Promise<Piece[]> {
  const pieces: Piece[] = [];
  if (item.edited_args_ref !== undefined) {
    const read = await reader.value(item.edited_args_ref);
    const words = 'found' in read ? textOfValue(read.found) : wordsFor(read.gone);
    pieces.push(notice(own`It ran with these arguments instead, which were changed before it was approved:`));
    pieces.push({ by: party`arguments`, words });
  }
  if (item.note_ref !== undefined)
    pieces.push({ by: party`note on the decision about this call`, words: await reader.text(item.note_ref) });
  if (item.non_execution !== undefined) pieces.push(nonExecutionText(item.non_execution));
  if (item.output_ref !== undefined) pieces.push({ words: await reader.text(item.output_ref) });
  for (const [i, file] of (item.files ?? []).entries()) pieces.push(notice(fileLine(file, unshown.get(i))));
  if (item.answer !== undefined) pieces.push(...(await ownerPieces(item.answer, reader)));
  const children = item.children ?? [];
  const room = Math.min(CHILD_BYTES_MAX, Math.floor(CHILDREN_BYTES_MAX / Math.max(1, children.length)));
  for (const child of children) pieces.push(await childPiece(child, reader, room));
  return pieces;
}

/** The images and documents among the files that a call made, and why others of them are not shown, by their index. */
export async function toolMedia(
  item: ToolItem,
  reader: TranscriptReader,
  room: MediaRoom,
): Promise<{ readonly media: readonly UnifiedMedia[]; readonly unshown: Reasons }> {
  const media: UnifiedMedia[] = [];
  const unshown = new Map<number, string>();
  for (const [i, file] of (item.files ?? []).entries()) {
    const { blob_ref: link, media_type: mediaType, declared_type: declared, path: name } = file;
    const seen = await room.show({ link, mediaType, declared, name }, 'result', reader);
    if (seen.kind === 'media') media.push(seen);
    else if (seen.why !== undefined) unshown.set(i, seen.why);
  }
  return { media, unshown };
}

/** The text of a call without an output. */
function nonExecutionText({ kind, code }: NonExecution): Marked {
  const [head, tail] = NON_EXECUTION[kind];
  return notice(paragraphs([head, code === undefined ? own`` : own` (${code})`, tail], ''));
}

/** What happened to a call without an output, before and behind the code. */
const NON_EXECUTION: Readonly<Record<NonExecution['kind'], readonly [head: Marked, tail: Marked]>> = {
  denied: [own`This call was refused and did not happen`, own`.`],
  cancelled: [own`This call was cancelled and did not happen`, own`.`],
  interrupted: [own`This call was interrupted`, own`. It may have happened in part; check before you repeat it.`],
  outcome_unknown: [own`The outcome of this call is unknown`, own`. It may have happened; check before you repeat it.`],
  completed_late: [
    own`This call was given up on, and was answered after all`,
    own`; what it came to is told further down.`,
  ],
  failed: [own`This call failed and gave no result`, own`.`],
};

const LATE: Readonly<Record<LateItem['status'], string>> = {
  ok: 'it did happen',
  error: 'it failed',
  timeout: 'it did not end in time, and may have happened in part',
  denied: 'it was refused and did not happen',
  cancelled: 'it was stopped',
  outcome_unknown: 'its outcome remains unknown',
};

/** The notice after the results about calls beyond the number that one answer may make. */
export function droppedText({ count, tools }: DroppedCalls, made: number): Marked {
  const calls = count === 1 ? '1 call' : `${count} calls`;
  const of = tools.length === 0 ? own`` : own` (of ${tools.join(', ')})`;
  const head = own`Automatic notice, not written by the user: the answer above asked for more calls than one answer may make. Only its first ${made} count; ${calls} behind them`;
  return notice(paragraphs([head, of, own` did not happen. Ask again for what you still need.`], ''));
}

/** The texts of a late result, at its position in the conversation, of a call that was first reported without one. */
export async function lateTexts(item: LateItem, reader: TranscriptReader): Promise<Marked[]> {
  const told = notice(
    own`Automatic notice, not written by the user: the call of ${item.tool} (${item.call_id}) that was reported above without a result has been answered after all: ${LATE[item.status]}.`,
  );
  if (item.output_ref === undefined) return [told];
  return [told, said(party`late result of ${item.call_id}, tool: ${item.tool}`, await reader.text(item.output_ref))];
}

/** The answer of the session's owner: its value as JSON, and the beginning of each linked content. */
async function ownerPieces({ value, refs }: OwnerReply, reader: TranscriptReader): Promise<Piece[]> {
  const bytesMax = Math.min(CHILD_BYTES_MAX, Math.floor(CHILDREN_BYTES_MAX / Math.max(1, refs.length)));
  const texts = refs.map(async ({ label, ref }) => ({
    by: party`content of the answer: ${label}`,
    words: await reader.words(ref),
    bytesMax,
  }));
  return [{ words: textOfValue(value) }, ...(await Promise.all(texts))];
}

async function childPiece(child: ChildResult, reader: TranscriptReader, bytesMax: number): Promise<Piece> {
  const status = child.code === undefined ? child.status : `${child.status} (${child.code})`;
  const link = child.value_ref ?? child.output_ref;
  if (link === undefined) return notice(own`Agent ${child.agent} (${child.child}): ${status}.`);
  return { by: party`agent ${child.child}, ${status}: ${child.agent}`, words: await reader.words(link), bytesMax };
}
