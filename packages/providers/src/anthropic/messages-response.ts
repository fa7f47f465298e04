/** Reads a messages answer into a unified response. Total: data that it cannot read gives undefined. */
import { isJsonObject } from '../model/json.js';
import { type AnswerAbout, AnswerDraft, isCount, namesOf, type ReadAnswer, usageOf, wordOf } from '../wire/answer.js';
import { type Fields, textIn } from '../wire/answer-stream.js';

/** The most blocks of one answer: more than any real answer has, and few enough to keep an entry for each. */
export const BLOCKS_MAX = 10_000;

/** Reads an answer; undefined when the data is not a message, with the reason to `about.unread`. */
export function readMessage(body: unknown, about: AnswerAbout): ReadAnswer | undefined {
  const given: Fields = isJsonObject(body) ? body : {};
  const content = given.type === undefined || given.type === 'message' ? blocksIn(given.content) : undefined;
  if (content === undefined) return about.unread?.('it is not a message with a list of content blocks');
  const draft = new AnswerDraft(about);
  for (const block of content) takeBlock(block, draft);
  return {
    ...draft.end(wordOf(given.stop_reason, MESSAGES_FINISH)),
    finishReason: finishReason(given.stop_reason, draft.hasCalls),
    ...namesOf(given, about.scrub),
    ...readMessagesUsage(given.usage),
  };
}

type BlockFields = Fields & { readonly type: string };

function blocksIn(content: unknown): readonly BlockFields[] | undefined {
  if (!Array.isArray(content) || content.length > BLOCKS_MAX) return undefined;
  const blocks = content.filter((one): one is BlockFields => isJsonObject(one) && typeof one.type === 'string');
  return blocks.length === content.length ? blocks : undefined;
}

function takeBlock(block: BlockFields, draft: AnswerDraft): void {
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

/** Stop reasons of this format, as unified finish reasons. */
export const MESSAGES_FINISH: Readonly<Record<string, ReadAnswer['finishReason']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  // The provider paused and expects another request, so the run sends one.
  pause_turn: 'interrupted',
  refusal: 'content_filter',
};

function finishReason(given: unknown, hasCalls: boolean): ReadAnswer['finishReason'] {
  const reason =
    typeof given === 'string' && Object.hasOwn(MESSAGES_FINISH, given) ? MESSAGES_FINISH[given] : undefined;
  const goesOn = reason === undefined || reason === 'stop' || reason === 'interrupted';
  if (hasCalls && goesOn) return 'tool_calls';
  return reason ?? 'other';
}

/** Reads token counts. When the provider made several passes over a request, the counts of all passes are added. */
export function readMessagesUsage(given: unknown): Pick<ReadAnswer, 'usage' | 'usageDetails'> {
  const usage: Fields = isJsonObject(given) ? given : {};
  const out: Fields = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const rounds = Array.isArray(usage.iterations) ? usage.iterations.filter(isJsonObject) : [];
  // Only the list of passes counts a compaction pass.
  const all = (field: string) => {
    const counts = rounds.map((round: Fields) => round[field]).filter(isCount);
    const [top, sum] = [usage[field], counts.reduce((total, count) => total + count, 0)];
    return counts.length === 0 || (isCount(top) && top > sum) ? top : sum;
  };
  const [into, cacheRead, cacheWrite] = [
    all('input_tokens'),
    all('cache_read_input_tokens'),
    all('cache_creation_input_tokens'),
  ];
  // Tokens read from a cache or written into it are counted separately from the other input tokens.
  const parts = [into, cacheRead, cacheWrite].filter(isCount);
  return usageOf({
    in: isCount(into) ? parts.reduce((sum, part) => sum + part, 0) : undefined,
    out: all('output_tokens'),
    reasoning: out.thinking_tokens,
    cacheRead,
    cacheWrite,
  });
}
