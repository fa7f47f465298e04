/**
 * `aos.agent/Prompt@1`: from a transcript to the messages of a request.
 *
 * Owns: which words stand for which item. Does not own: their order and pairing (`lay-out.ts`), how content is read
 * (`reader.ts`), any wire.
 *
 * Invariants
 * P1  Total: every sequence of items, whatever has become of their content, gives a conversation (Y1).
 * P2  What was erased or cannot be read is told as such: the model learns that something was there, and not what.
 * P3  What only another profile or model reads is dropped, and its class named in `losses`, never silently.
 * P4  Append-only: an item changes no message that stands before an answer before it (Y5).
 * P5  A recorded name: what this file makes of an item never changes under the name `aos.agent/Prompt@1`.
 */
import type { OpaquePart, TranscriptItem } from '@reprise/agent';
import type { Ref, Value } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import type { UnifiedMessage } from '../model/model.js';
import { headOf } from '../model/text.js';
import { type Draft, layOut } from './lay-out.js';
import { MediaRoom } from './media.js';
import { TranscriptReader, wordsFor } from './reader.js';
import { droppedText, lateText, toolMedia, toolText } from './tool-words.js';
import { userSays } from './user-words.js';

/** The name and version of the prompt assembly, as parameters of a model call record it. */
export const PROMPT_VERSION = 'aos.agent/Prompt@1';

/** What a model reads behind an answer that was stopped. */
export const INTERRUPTED_TEXT =
  'Automatic notice, not written by the user: the answer above was stopped before its end.';

/** For whom a transcript is projected. */
export interface PromptTarget {
  /** Who will read it: opaque parts of others are dropped. */
  readonly profile: string;
  readonly model: string;
  /** False: one call after the other. */
  readonly parallelCalls: boolean;
  /** The media types that it takes as they are; none when absent. */
  readonly mediaTypes?: readonly string[];
  /** A summary of what came before the items. */
  readonly base?: Ref;
  /** What it is asked behind them. */
  readonly ask?: Ref;
  /** How many bytes of each tool's result it is told, where that is bounded. */
  readonly resultBytesMax?: number;
}

/** Messages, and what of the transcript is not in them. */
export interface Prompt {
  readonly messages: readonly UnifiedMessage[];
  readonly losses: readonly string[];
  /** Whether something of it was erased, and is told as such. */
  readonly erased: boolean;
}

/**
 * Reads a transcript's content and lays it out as a conversation.
 *
 * @throws RepriseError `store_failed` when the store cannot be read; never for what is in it
 */
export async function assemblePrompt(
  content: ContentReader,
  items: AsyncIterable<TranscriptItem> | Iterable<TranscriptItem>,
  target: PromptTarget,
): Promise<Prompt> {
  const reader = new TranscriptReader(content);
  const room = new MediaRoom(reader, target.mediaTypes ?? []);
  const drafts: Draft[] = [];
  if (target.base !== undefined) drafts.push({ role: 'user', says: await baseTexts(target.base, reader) });
  for await (const item of items) drafts.push(...(await draftsOf(item, { reader, room, target })));
  if (target.ask !== undefined) drafts.push({ role: 'user', says: [await reader.text(target.ask)] });
  return { messages: layOut(drafts, target), losses: [...reader.losses].sort(), erased: reader.erased };
}

async function baseTexts(base: Ref, reader: TranscriptReader): Promise<string[]> {
  return ['Summary of the conversation before this point:', await reader.words(base)];
}

interface Reading {
  readonly reader: TranscriptReader;
  readonly room: MediaRoom;
  readonly target: PromptTarget;
}

async function draftsOf(item: TranscriptItem, { reader, room, target }: Reading): Promise<Draft[]> {
  switch (item.role) {
    case 'user':
      return [{ role: 'user', says: await userSays(item, reader, room) }];
    case 'late':
      return [{ role: 'user', says: [await lateText(item, reader)] }];
    case 'tool': {
      const { call_id: callId, tool, is_error: isError } = item;
      const text = await toolText(item, reader);
      const { resultBytesMax: most } = target;
      if (most !== undefined) return [{ role: 'tool', callId, tool, text: headOf(text, most), isError }];
      return [{ role: 'tool', callId, tool, text, isError, media: await toolMedia(item, room) }];
    }
    case 'assistant': {
      const notices = [
        ...(item.interrupted === true ? [INTERRUPTED_TEXT] : []),
        ...(item.dropped_calls === undefined ? [] : [droppedText(item.dropped_calls, item.calls.length)]),
      ];
      const answer = await answerOf(item, reader, target);
      return notices.length === 0 ? [answer] : [answer, { role: 'user', says: notices }];
    }
  }
}

async function answerOf(
  item: TranscriptItem & { role: 'assistant' },
  reader: TranscriptReader,
  target: PromptTarget,
): Promise<Draft> {
  const read = await reader.output(item.output_ref);
  const output = 'found' in read ? read.found : { text: wordsFor(read.gone) };
  const opaque = 'opaque' in output ? kept(output.opaque ?? [], item.by, target, reader.losses) : [];
  const calls = [];
  // The item's own list decides which calls were made: the output may hold more than a step was allowed.
  for (const { call_id: callId, tool, args_ref } of item.calls) {
    calls.push({ callId, tool, args: await argsOf(args_ref, reader) });
  }
  return { role: 'assistant', ...(output.text === undefined ? {} : { text: output.text }), opaque, calls };
}

/** P3 */
function kept(
  parts: readonly OpaquePart[],
  by: { readonly profile: string; readonly model: string },
  target: PromptTarget,
  losses: Set<string>,
): readonly OpaquePart[] {
  if (by.profile === target.profile && by.model === target.model) return parts;
  for (const { kind } of parts) losses.add(kind);
  return [];
}

async function argsOf(link: Ref, reader: TranscriptReader): Promise<Value> {
  const read = await reader.value(link);
  return 'found' in read ? read.found : { [read.gone]: true };
}
