/** The responses answer: from data to a unified response. Total: what it cannot read is no answer. */
import * as z from 'zod';
import { isJsonObject } from '../json.js';
import { type AnswerAbout, AnswerDraft, type ReadAnswer, responseIdOf, usageOf } from '../wire/answer.js';
import { type Fields, textIn } from '../wire/answer-stream.js';

const answer = z.looseObject({
  id: z.unknown().optional(),
  status: z.unknown().optional(),
  output: z.array(z.looseObject({ type: z.string() })),
});

/** Reads an answer; undefined when it is none, or says that it failed. */
export function readResponse(body: unknown, about: AnswerAbout): ReadAnswer | undefined {
  const parsed = answer.safeParse(body).data;
  if (parsed === undefined) return undefined;
  const draft = new AnswerDraft(about);
  const refused = parsed.output.map((item) => takeItem(item, draft)).includes('refused');
  const finish = finishReason(parsed, draft.hasCalls);
  if (finish === undefined) return undefined;
  return {
    ...draft.end(),
    finishReason: refused ? 'content_filter' : finish,
    ...responseIdOf(parsed.id, about.scrub),
    ...readUsage(parsed.usage),
  };
}

/** Whether the model refused, in an item. */
type Took = 'refused' | 'taken';

function takeItem(item: Fields & { readonly type: string }, draft: AnswerDraft): Took {
  switch (item.type) {
    case 'message':
      return takeMessage(item, draft);
    case 'function_call':
      draft.call(item.call_id, item.name, item.arguments);
      return 'taken';
    case 'reasoning':
      draft.keep('reasoning', item, readableReasoning(item));
      return 'taken';
    default:
      draft.keep(/_call$|^mcp_/.test(item.type) ? 'provider_tool' : 'other', item);
      return 'taken';
  }
}

function takeMessage(item: Fields, draft: AnswerDraft): Took {
  let took: Took = 'taken';
  const annotations: unknown[] = [];
  for (const part of listIn(item.content)) {
    draft.say(part.text);
    annotations.push(...listIn(part.annotations));
    if (part.type !== 'refusal') continue;
    draft.say(part.refusal);
    took = 'refused';
  }
  const phase = textIn(item.phase);
  const marks = { ...(annotations.length === 0 ? {} : { annotations }), ...(phase === '' ? {} : { phase }) };
  if (Object.keys(marks).length > 0) draft.keep('other', { type: 'message', ...marks });
  return took;
}

function readableReasoning({ summary, content }: Fields): string {
  const texts = (list: unknown) => listIn(list).map(({ text }) => textIn(text));
  const told = texts(content);
  return (told.length > 0 ? told : texts(summary)).join('\n\n');
}

function listIn(thing: unknown): readonly Fields[] {
  return Array.isArray(thing) ? thing.filter(isJsonObject) : [];
}

/** What the reasons for an answer that is not whole mean. */
export const RESPONSES_INCOMPLETE: Readonly<Record<string, ReadAnswer['finishReason']>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

function finishReason(given: Fields, hasCalls: boolean): ReadAnswer['finishReason'] | undefined {
  // Servers of this format may say no status at all.
  if (given.status === 'completed' || given.status === undefined) return hasCalls ? 'tool_calls' : 'stop';
  if (given.status !== 'incomplete') return undefined;
  const reason = isJsonObject(given.incomplete_details) ? textIn(given.incomplete_details.reason) : '';
  return (Object.hasOwn(RESPONSES_INCOMPLETE, reason) ? RESPONSES_INCOMPLETE[reason] : undefined) ?? 'other';
}

function readUsage(given: unknown): Pick<ReadAnswer, 'usage' | 'usageDetails'> {
  const usage: Fields = isJsonObject(given) ? given : {};
  const into: Fields = isJsonObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const out: Fields = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return usageOf({
    in: usage.input_tokens,
    out: usage.output_tokens,
    reasoning: out.reasoning_tokens,
    cacheRead: into.cached_tokens,
  });
}
