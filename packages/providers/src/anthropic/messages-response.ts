/** The messages answer: from data to a unified response. Total: what it cannot read is no answer. */
import * as z from 'zod';
import { isJsonObject } from '../json.js';
import { type AnswerAbout, AnswerDraft, isCount, type ReadAnswer, responseIdOf, usageOf } from '../wire/answer.js';
import { type Fields, textIn } from '../wire/answer-stream.js';

const answer = z.looseObject({
  id: z.unknown().optional(),
  type: z.literal('message').optional(),
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.unknown().optional(),
});

/** Reads an answer; undefined when this is no message. */
export function readMessage(body: unknown, about: AnswerAbout): ReadAnswer | undefined {
  const parsed = answer.safeParse(body).data;
  if (parsed === undefined) return undefined;
  const draft = new AnswerDraft(about);
  for (const block of parsed.content) takeBlock(block, draft);
  return {
    ...draft.end(),
    finishReason: finishReason(parsed.stop_reason, draft.hasCalls),
    ...responseIdOf(parsed.id, about.scrub),
    ...readUsage(parsed.usage),
  };
}

function takeBlock(block: Fields & { readonly type: string }, draft: AnswerDraft): void {
  switch (block.type) {
    case 'text':
      draft.say(block.text);
      if (Array.isArray(block.citations) && block.citations.length > 0) {
        draft.keep('other', { type: 'text', citations: block.citations });
      }
      break;
    case 'tool_use':
      draft.call(block.id, block.name, block.input);
      break;
    case 'thinking':
    case 'redacted_thinking':
      draft.keep('reasoning', block, textIn(block.thinking));
      break;
    default:
      draft.keep(/tool_(use|result)$/.test(block.type) ? 'provider_tool' : 'other', block);
  }
}

/** What the words for the end of an answer mean. */
export const MESSAGES_FINISH: Readonly<Record<string, ReadAnswer['finishReason']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  // The provider wants to be asked to go on: the run does.
  pause_turn: 'interrupted',
  refusal: 'content_filter',
};

function finishReason(given: unknown, hasCalls: boolean): ReadAnswer['finishReason'] {
  const reason =
    typeof given === 'string' && Object.hasOwn(MESSAGES_FINISH, given) ? MESSAGES_FINISH[given] : undefined;
  if (hasCalls && (reason === undefined || reason === 'stop')) return 'tool_calls';
  return reason ?? 'other';
}

function readUsage(given: unknown): Pick<ReadAnswer, 'usage' | 'usageDetails'> {
  const usage: Fields = isJsonObject(given) ? given : {};
  const { cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite } = usage;
  const out: Fields = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  // What was read from a cache or written into it is counted beside the rest.
  const parts = [usage.input_tokens, cacheRead, cacheWrite].filter(isCount);
  return usageOf({
    in: isCount(usage.input_tokens) ? parts.reduce((sum, part) => sum + part, 0) : undefined,
    out: usage.output_tokens,
    reasoning: out.thinking_tokens,
    cacheRead,
    cacheWrite,
  });
}
