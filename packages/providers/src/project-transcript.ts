/**
 * From a transcript to the messages of a request.
 *
 * Invariants
 * P1  Total: every sequence of items, however broken, gives messages that a strict provider accepts.
 * P2  Every call is answered right after the message that made it, in the order of the calls; a call without a
 *     result is answered by a message that says so.
 * P3  Call ids are unique in a request.
 * P4  What was erased is told as such: the model learns that something was said or called there, and not what.
 * P5  What cannot be told is dropped and named in `losses`, never silently.
 */
import { readLlmOutput, readText, readValue, type TranscriptItem } from '@reprise/agent';
import { isRepriseError, type Ref } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import type { UnifiedCall, UnifiedMessage } from './model.js';
import { cut } from './text.js';

/** What a model reads in place of a result that was never recorded. */
export const NO_RESULT_TEXT =
  'No result of this call was recorded. It may have happened, wholly or in part; check before you repeat it.';

/** What a model reads in place of content that was erased. */
export const ERASED_TEXT = '[erased]';

/** Messages, and what of the transcript is not in them. */
export interface Projection {
  readonly messages: readonly UnifiedMessage[];
  readonly losses: readonly string[];
}

/**
 * Reads a transcript's blobs and lays it out as messages.
 *
 * @throws RepriseError `blob_missing` when content that the transcript links is not there
 */
export async function projectTranscript(
  content: ContentReader,
  items: AsyncIterable<TranscriptItem> | Iterable<TranscriptItem>,
): Promise<Projection> {
  const loose: UnifiedMessage[] = [];
  for await (const item of items) loose.push(await looseMessage(content, item));
  return pairCalls(loose);
}

async function looseMessage(content: ContentReader, item: TranscriptItem): Promise<UnifiedMessage> {
  if (item.role === 'user') return { role: 'user', text: await textOf(content, item.text_ref) };
  if (item.role === 'tool') {
    const text = item.output_ref === undefined ? nonExecutionText(item) : await textOf(content, item.output_ref);
    return { role: 'tool', callId: item.call_id, text, isError: item.is_error };
  }
  const { text } = await unlessErased(readLlmOutput(content, item.output_ref), { text: ERASED_TEXT, tool_calls: [] });
  // The item's own list decides which calls were made: the output may hold more than a step was allowed.
  const calls = await Promise.all(
    item.calls.map(async ({ call_id, tool, args_ref }) => ({
      callId: call_id,
      tool,
      args: await unlessErased(readValue(content, args_ref), { erased: true }),
    })),
  );
  return { role: 'assistant', ...(text === undefined ? {} : { text }), calls };
}

function textOf(content: ContentReader, link: Ref): Promise<string> {
  return unlessErased(readText(content, link), ERASED_TEXT);
}

/** P4 */
async function unlessErased<T>(reading: Promise<T>, marker: T): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return marker;
    throw error;
  }
}

/** What a model reads of a call without an output: above all whether it may have happened. */
function nonExecutionText({ non_execution }: TranscriptItem & { role: 'tool' }): string {
  if (non_execution === undefined) return NO_RESULT_TEXT;
  const why = non_execution.code === undefined ? '' : ` (${non_execution.code})`;
  const told: Record<typeof non_execution.kind, string> = {
    denied: `This call was refused and did not happen${why}.`,
    cancelled: `This call was cancelled and did not happen${why}.`,
    interrupted: `This call was interrupted${why}. It may have happened in part; check before you repeat it.`,
    outcome_unknown: `The outcome of this call is unknown${why}. It may have happened; check before you repeat it.`,
    failed: `This call failed and gave no result${why}.`,
  };
  return told[non_execution.kind];
}

interface OpenCall {
  readonly call: UnifiedCall;
  result?: { readonly text: string; readonly isError: boolean };
}

type Block =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text?: string; readonly calls: readonly OpenCall[] };

/** Puts every result behind its call and every message into a form that providers accept. Pure. */
export function pairCalls(loose: readonly UnifiedMessage[]): Projection {
  const losses = new Set<string>();
  const blocks = collectBlocks(loose, losses);
  const taken = new Set<string>();
  const messages = blocks.flatMap((block) => (block.role === 'user' ? [block] : layOut(block, taken)));
  if (messages.length === 0) messages.push({ role: 'user', text: '(There is no input.)' });
  return { messages, losses: [...losses] };
}

function collectBlocks(loose: readonly UnifiedMessage[], losses: Set<string>): Block[] {
  const blocks: Block[] = [];
  const open = new Map<string, OpenCall[][]>();
  for (const message of loose) {
    if (message.role === 'user') blocks.push(message);
    if (message.role === 'tool' && !answer(open, message)) losses.add('orphan_tool_result');
    if (message.role !== 'assistant') continue;
    const calls = message.calls.map((call): OpenCall => ({ call }));
    if (calls.length === 0 && (message.text ?? '') === '') losses.add('empty_assistant_message');
    else blocks.push({ ...message, calls });
    for (const [callId, queue] of queuesOf(calls)) open.set(callId, [...(open.get(callId) ?? []), queue]);
  }
  return blocks;
}

function queuesOf(calls: readonly OpenCall[]): Map<string, OpenCall[]> {
  const queues = new Map<string, OpenCall[]>();
  for (const open of calls) queues.set(open.call.callId, [...(queues.get(open.call.callId) ?? []), open]);
  return queues;
}

/** Gives a result to the newest message that still waits for one of this id; its calls in order. */
function answer(open: Map<string, OpenCall[][]>, message: UnifiedMessage & { role: 'tool' }): boolean {
  const waiting = open.get(message.callId)?.findLast((queue) => queue.length > 0);
  const call = waiting?.shift();
  if (call === undefined) return false;
  call.result = message;
  return true;
}

function layOut(block: Block & { role: 'assistant' }, taken: Set<string>): UnifiedMessage[] {
  const named = block.calls.map(({ call, result }) => ({
    call: { ...call, callId: unique(call.callId, taken) },
    result,
  }));
  const results = named.map(
    ({ call, result }): UnifiedMessage => ({
      role: 'tool',
      callId: call.callId,
      text: result?.text ?? NO_RESULT_TEXT,
      isError: result?.isError ?? true,
    }),
  );
  const text = (block.text ?? '') === '' ? {} : { text: block.text as string };
  return [{ role: 'assistant', ...text, calls: named.map(({ call }) => call) }, ...results];
}

/**
 * An id as it is, or, when it is taken, with the first free number behind it. Some providers count calls from zero
 * in every answer.
 *
 * @param taken ids in use; the answer is added
 */
export function unique(id: string, taken: Set<string>): string {
  let free = id;
  for (let n = 2; taken.has(free); n++) free = `${cut(id, 112)}_${n}`;
  taken.add(free);
  return free;
}
