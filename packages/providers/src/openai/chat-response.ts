/** The chat-completions answer: from data to a unified response. Total: what it cannot read is no answer. */
import * as z from 'zod';
import { type AnswerAbout, AnswerDraft, type ReadAnswer, responseIdOf, usageOf } from '../wire/answer.js';
import { REASONING_FIELDS } from './chat-request.js';

// Loose on purpose: servers of this format differ in everything that is not the answer itself.
const toolCall = z.object({
  id: z.unknown().optional(),
  function: z.object({ name: z.unknown().optional(), arguments: z.unknown().optional() }),
});
const content = z.union([z.string(), z.array(z.object({ text: z.string().optional() }))]).nullish();
const completion = z.object({
  id: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        finish_reason: z.unknown().optional(),
        message: z.looseObject({ content, refusal: z.string().nullish(), tool_calls: z.array(toolCall).nullish() }),
      }),
    )
    .min(1),
  usage: z.unknown().optional(),
});

type Completion = z.infer<typeof completion>;

/** Reads an answer; undefined when this is not a completion. */
export function readCompletion(body: unknown, about: AnswerAbout): ReadAnswer | undefined {
  const parsed = completion.safeParse(body);
  const choice = parsed.data?.choices[0];
  if (parsed.data === undefined || choice === undefined) return undefined;
  const { message } = choice;
  const draft = new AnswerDraft(about);
  const refusal = message.refusal ?? '';
  keepReasoning(message, draft);
  draft.say(textOf(message.content) || refusal);
  for (const call of message.tool_calls ?? []) draft.call(call.id, call.function.name, call.function.arguments);
  return {
    ...draft.end(),
    finishReason: refusal === '' ? finishReason(choice.finish_reason, draft.hasCalls) : 'content_filter',
    ...responseIdOf(parsed.data.id, about.scrub),
    ...readUsage(parsed.data.usage),
  };
}

function textOf(given: Completion['choices'][number]['message']['content']): string {
  if (typeof given === 'string') return given;
  return (given ?? []).map(({ text }) => text ?? '').join('');
}

/** Reasoning in the fields that it came in, so that it can go back in them. */
function keepReasoning(message: Readonly<Record<string, unknown>>, draft: AnswerDraft): void {
  const given = REASONING_FIELDS.flatMap((field) => {
    const there = message[field] ?? '';
    return there === '' || (Array.isArray(there) && there.length === 0) ? [] : [[field, there] as const];
  });
  if (given.length === 0) return;
  const text = given.map(([, there]) => there).find((there) => typeof there === 'string');
  draft.keep('reasoning', Object.fromEntries(given), text);
}

/** What the words for the end of an answer mean. */
export const CHAT_FINISH: Readonly<Record<string, ReadAnswer['finishReason']>> = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  error: 'error',
};

function finishReason(given: unknown, hasCalls: boolean): ReadAnswer['finishReason'] {
  const reason = typeof given === 'string' && Object.hasOwn(CHAT_FINISH, given) ? CHAT_FINISH[given] : undefined;
  // Some servers say `stop`, or nothing, beside calls that want answers.
  if (hasCalls && (reason === undefined || reason === 'stop')) return 'tool_calls';
  return reason ?? 'other';
}

const usageFields = z.looseObject({
  prompt_tokens_details: z.looseObject({}).nullish().catch(undefined),
  completion_tokens_details: z.looseObject({}).nullish().catch(undefined),
});

function readUsage(given: unknown): Pick<ReadAnswer, 'usage' | 'usageDetails'> {
  const { data } = usageFields.safeParse(given);
  return usageOf({
    in: data?.prompt_tokens,
    out: data?.completion_tokens,
    cacheRead: data?.prompt_tokens_details?.cached_tokens,
    reasoning: data?.completion_tokens_details?.reasoning_tokens,
  });
}
