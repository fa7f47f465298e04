/**
 * `aos.agent/Prompt@1`: turns a transcript into the messages of a request.
 *
 * Owns: the words for each item. Does not own: the order and pairing of messages (`lay-out.ts`), reading content
 * (`reader.ts`), any wire.
 *
 * Invariants
 * P1  Total: every sequence of items gives a conversation (lay-out/Y1), even when content is missing or damaged.
 * P2  Erased or unreadable content is marked: the model learns that content existed, but not what it was.
 * P3  Parts that only another profile or model can read are dropped, and `losses` names their class.
 * P4  Append-only: an item never changes messages before the last answer that precedes it (lay-out/Y5).
 * P5  A recorded name: the output for an item never changes under the name `aos.agent/Prompt@1`.
 */
import type { OpaquePart, TranscriptItem } from '@reprise/agent';
import {
  authored,
  isObject,
  type Marked,
  notice,
  own,
  party,
  type Ref,
  requireArgument,
  requireFields,
  requireMethods,
  said,
  type Value,
} from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import type { UnifiedMessage } from '../model/model.js';
import type { Sendable } from '../model/sendable.js';
import { steady } from '../model/steady.js';
import { type Draft, layOut } from './lay-out.js';
import { MediaRoom } from './media.js';
import type { ItemDrafts, PromptMemory } from './memory.js';
import { TranscriptReader, wordsFor } from './reader.js';
import { droppedText, lateTexts, toolMedia, toolText } from './tool-words.js';
import { userSays } from './user-words.js';

/** The text that follows an answer that was stopped. */
export const INTERRUPTED_TEXT = notice(
  own`Automatic notice, not written by the user: the answer above was stopped before its end.`,
);

/** The reader of a prompt and its abilities. */
interface PromptTarget {
  /** The profile of the reader; opaque parts of other profiles are dropped. */
  readonly profile: string;
  readonly model: string;
  /** If false, an answer with several calls becomes a series of single calls. */
  readonly parallelCalls: boolean;
  /** The media types that the model reads directly; default: no media types. */
  readonly mediaTypes?: readonly string[];
  /** What the format of the request carries. Default: all media types of the model. */
  readonly sendable?: Sendable;
  /** Content that was taken out of the conversation, by digest: it is named, and not shown. */
  readonly dropped?: readonly string[];
  /** A summary of the conversation before the items. */
  readonly base?: Ref;
  /** A request to the model after the items. */
  readonly ask?: Ref;
  /** The bound in bytes on each tool result, if there is one. */
  readonly resultBytesMax?: number;
}

/**
 * Where a part of a message comes from: the place of an item among the items that were read, the summary before them, the
 * request after them, or, where it is null, the runtime.
 */
export interface PartSource {
  readonly of: number | 'summary' | 'request' | null;
  /** How many parts of a user message come from there; 1 for another message. */
  readonly parts: number;
}

/** Messages, and the classes of parts that they leave out. */
interface Prompt {
  readonly messages: readonly UnifiedMessage[];
  /** For each message, where its parts come from, in their order; the runtime for a result that was never recorded. */
  readonly sources: readonly (readonly PartSource[])[];
  readonly losses: readonly string[];
  /** Whether some of the content was erased; the messages then say so. */
  readonly erased: boolean;
}

/**
 * Reads a transcript's content and turns it into a conversation.
 *
 * @param memory what earlier calls of the same world have read; only items that it has read itself are found in it
 * @throws RepriseError `store_failed` when the store cannot be read; damaged or missing content never throws
 */
export async function assemblePrompt(
  content: ContentReader,
  items: AsyncIterable<TranscriptItem> | Iterable<TranscriptItem>,
  target: PromptTarget,
  memory?: PromptMemory,
): Promise<Prompt> {
  requireMethods(content, ['get'], 'assemblePrompt(content)', 'the content of a world');
  const isList = isObject(items) && (Symbol.iterator in items || Symbol.asyncIterator in items);
  requireArgument(isList, 'assemblePrompt(items)', 'the items of a transcript', items);
  requireFields(target, 'assemblePrompt(target)', 'what the prompt is for, as an object');
  const reader = new TranscriptReader(content);
  const reading: Reading = { content, target, memory, reader, room: roomOf(target) };
  const drafts: Placed[] = [];
  if (target.base !== undefined)
    drafts.push({ draft: { role: 'user', says: await baseTexts(target.base, reader) }, of: 'summary' });
  await readItems(items, reading, drafts);
  if (target.ask !== undefined)
    drafts.push({ draft: { role: 'user', says: [authored(await reader.text(target.ask))] }, of: 'request' });
  const { messages, sources } = layOut(
    drafts.map(({ draft }) => draft),
    target,
  );
  return {
    messages,
    sources: sources.map((places) => places.map((at) => sourceAt(drafts, at))),
    losses: [...reader.losses].sort(),
    erased: reader.erased,
  };
}

/** A draft and where it comes from. */
interface Placed {
  readonly draft: Draft;
  readonly of: PartSource['of'];
}

/** What the layout adds of its own is one part. */
function sourceAt(drafts: readonly Placed[], at: number | null): PartSource {
  const placed = at === null ? undefined : drafts[at];
  return placed === undefined ? { of: null, parts: 1 } : { of: placed.of, parts: partsOf(placed.draft) };
}

/** How many parts a draft has in a user message; a result without a call has its note and its media there. */
function partsOf(draft: Draft): number {
  return draft.role === 'user' ? draft.says.length : draft.role === 'tool' ? 1 + (draft.media?.length ?? 0) : 1;
}

function roomOf({ mediaTypes: types = [], sendable, dropped }: PromptTarget): MediaRoom {
  return new MediaRoom({ types, sendable, dropped });
}

/** Adds the drafts of items: those that are kept, or else from content. */
async function readItems(
  items: AsyncIterable<TranscriptItem> | Iterable<TranscriptItem>,
  { memory, reader, ...reading }: Reading,
  drafts: Placed[],
): Promise<void> {
  const key = draftsKey(reading.target);
  let place = 0;
  const take = (found: ItemDrafts) => {
    for (const draft of found.drafts) drafts.push({ draft, of: place });
    place++;
    for (const loss of found.losses) reader.losses.add(loss);
  };
  const read = async (item: TranscriptItem): Promise<void> => {
    const own = new TranscriptReader(reading.content);
    const { decisions } = reading.room;
    const made = await draftsOf(item, { ...reading, reader: own });
    take({ drafts: made, losses: [...own.losses] });
    reader.erased ||= own.erased;
    if (memory === undefined || own.isPartial || reading.room.decisions > decisions) return;
    memory.keep(item, key, { drafts: made.map(steady), losses: [...own.losses] });
  };
  const known = (item: TranscriptItem) => memory?.drafts(item, key);
  if (Symbol.asyncIterator in items) for await (const item of items) await read(item);
  else {
    for (const item of items) {
      const found = known(item);
      if (found === undefined) await read(item);
      else take(found);
    }
  }
}

/** All that the drafts of an item depend on, besides the item and the room for media. */
function draftsKey({ profile, model, mediaTypes = [], sendable, dropped = [], resultBytesMax }: PromptTarget): string {
  return JSON.stringify([profile, model, mediaTypes, sendable ?? null, dropped, resultBytesMax ?? null]);
}

async function baseTexts(base: Ref, reader: TranscriptReader): Promise<Marked[]> {
  return [said(party`summary of the conversation before this point`, await reader.words(base))];
}

interface Reading {
  readonly content: ContentReader;
  readonly target: PromptTarget;
  readonly memory?: PromptMemory | undefined;
  readonly reader: TranscriptReader;
  readonly room: MediaRoom;
}

type ItemReading = Pick<Reading, 'reader' | 'room' | 'target'>;

async function draftsOf(item: TranscriptItem, { reader, room, target }: ItemReading): Promise<Draft[]> {
  switch (item.role) {
    case 'user':
      return [{ role: 'user', says: await userSays(item, reader, room) }];
    case 'late':
      return [{ role: 'user', says: await lateTexts(item, reader) }];
    case 'tool': {
      const { call_id: callId, tool, is_error: isError } = item;
      const { resultBytesMax: most } = target;
      if (most !== undefined)
        return [{ role: 'tool', callId, tool, text: await toolText(item, reader, { bytesMax: most }), isError }];
      const { media, unshown } = await toolMedia(item, reader, room);
      const text = await toolText(item, reader, { unshown });
      return [{ role: 'tool', callId, tool, text, isError, media: [...media] }];
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
  // The item's own list decides which calls were made: the output may hold more than one step may make.
  for (const { call_id: callId, tool, args_ref } of item.calls) {
    calls.push({ callId, tool, args: await argsOf(args_ref, reader) });
  }
  return { role: 'assistant', ...(output.text === undefined ? {} : { text: output.text }), opaque, calls };
}

// P3
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
