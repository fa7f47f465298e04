/** Reads a responses answer into a unified response. Total: data that it cannot read gives undefined. */
import { isJsonObject } from '../model/json.js';
import { type AnswerAbout, AnswerDraft, namesOf, type ReadAnswer, usageOf } from '../wire/answer.js';
import { type Fields, textIn } from '../wire/answer-stream.js';
import { type Wanted, wantedBy } from '../wire/wanted.js';
import { PROVIDER_ITEMS } from './responses-rules.js';
import { ITEMS_MAX } from './responses-stream.js';

/** Reads an answer; undefined when the data is not a response, or reports a failure, with the reason to `about.unread`. */
export function readResponse(body: unknown, about: AnswerAbout): ReadAnswer | undefined {
  const given: Fields = isJsonObject(body) ? body : {};
  const output = itemsIn(given.output);
  if (output === undefined) return about.unread?.('it is not a response with a list of items');
  const draft = new AnswerDraft(about);
  const took = output.map((item) => takeItem(item, output, draft));
  const finish = finishReason(given, draft.hasCalls);
  if (finish === undefined) return about.unread?.('its status is not that of an answer');
  // An item of a new kind may wait for a reply from the client, so an answer with nothing else is not a normal end.
  const asked = finish === 'stop' && took.includes('new');
  return {
    // A completed answer has an item, if only a message without text.
    ...draft.end(
      asked ? 'calls' : given.status === undefined || (finish === 'stop' && output.length === 0) ? 'none' : 'known',
    ),
    finishReason: took.includes('refused') ? 'content_filter' : finish,
    ...namesOf(given, about.scrub),
    ...readResponsesUsage(given.usage),
  };
}

type Item = Fields & { readonly type: string };

function itemsIn(output: unknown): readonly Item[] | undefined {
  if (!Array.isArray(output) || output.length > ITEMS_MAX) return undefined;
  const items = output.filter((item): item is Item => isJsonObject(item) && typeof item.type === 'string');
  return items.length === output.length ? items : undefined;
}

/** How an item was read: a refusal, a known item, or an item of an unknown kind. */
type Took = 'refused' | 'taken' | 'new';

function takeItem(item: Item, output: readonly Item[], draft: AnswerDraft): Took {
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
      return takeOther(item, output, draft);
  }
}

function takeOther(item: Item, output: readonly Item[], draft: AnswerDraft): Took {
  draft.keep(/_call$|^mcp_/.test(item.type) ? 'provider_tool' : 'other', item);
  const wanted = wantedBy(item.type);
  if (wanted !== undefined && !isAnswered(item, wanted, output)) draft.want(wanted);
  const known = (PROVIDER_ITEMS as readonly string[]).includes(item.type) || wanted !== undefined;
  return known ? 'taken' : 'new';
}

/** Whether the provider already answered its own request: the result then stands in the same answer. */
function isAnswered(item: Item, wanted: Wanted, output: readonly Item[]): boolean {
  if (item.execution === 'server') return true;
  const answer = wanted === 'tool_search_call' ? 'tool_search_output' : `${wanted}_output`;
  return output.some(({ type, call_id }) => type === answer && call_id !== undefined && call_id === item.call_id);
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

/** Reasons for an incomplete answer, as unified finish reasons. */
export const RESPONSES_INCOMPLETE: Readonly<Record<string, ReadAnswer['finishReason']>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

function finishReason(given: Fields, hasCalls: boolean): ReadAnswer['finishReason'] | undefined {
  // Servers of this format may omit the status.
  if (given.status === 'completed' || given.status === undefined) return hasCalls ? 'tool_calls' : 'stop';
  if (given.status !== 'incomplete') return undefined;
  const reason = isJsonObject(given.incomplete_details) ? textIn(given.incomplete_details.reason) : '';
  return (Object.hasOwn(RESPONSES_INCOMPLETE, reason) ? RESPONSES_INCOMPLETE[reason] : undefined) ?? 'other';
}

/** Reads the token counts of a response, cached and reasoning tokens among them. */
export function readResponsesUsage(given: unknown): Pick<ReadAnswer, 'usage' | 'usageDetails'> {
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
