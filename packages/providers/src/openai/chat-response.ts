/** Reads a chat-completions answer into a unified response. Total: data that it cannot read gives undefined. */
import { fieldsOf } from '@reprise/contracts';
import { exactJsonText } from '@reprise/contracts/json';
import { isJsonObject, sameJson } from '../model/json.js';
import { type AnswerAbout, AnswerDraft, isCount, namesOf, type ReadAnswer, usageOf, wordOf } from '../wire/answer.js';
import { type Fields, textIn } from '../wire/answer-stream.js';
import { type ContentPart, contentParts } from './chat-content.js';
import { REASONING_FIELDS } from './chat-request.js';

/** The most calls that are read; fewer are stored. */
const CALLS_READ_MAX = 10_000;

/** Reads an answer; undefined when the data is not a completion, with the reason to `about.unread`. */
export function readCompletion(body: unknown, about: AnswerAbout): ReadAnswer | undefined {
  const given: Fields = isJsonObject(body) ? body : {};
  // Loose on purpose: servers of this format differ in every field outside the answer itself.
  const choice: unknown = Array.isArray(given.choices) ? given.choices[0] : undefined;
  const message: unknown = isJsonObject(choice) ? choice.message : undefined;
  if (!isJsonObject(choice) || !isJsonObject(message)) return about.unread?.('it holds no choice with a message');
  const [parts, calls] = [contentParts(message.content), callsIn(message)];
  if (parts === undefined) return about.unread?.('the content is no text and no list of parts');
  if (calls === undefined) return about.unread?.('the calls are no list of calls, or differ between the two forms');
  const draft = new AnswerDraft(about);
  keepReasoning(message, draft);
  const refused = takeContent(parts, textIn(message.refusal), draft);
  for (const call of calls) takeCall(call, draft);
  const finish = finishReason(choice.finish_reason, draft.hasCalls);
  return {
    ...draft.end(wordOf(choice.finish_reason, CHAT_FINISH)),
    finishReason: refused ? 'content_filter' : finish,
    ...namesOf(given, about.scrub),
    ...readChatUsage(given.usage),
  };
}

/** Adds the content to the draft; true when it is a refusal. */
function takeContent(parts: readonly ContentPart[], refusal: string, draft: AnswerDraft): boolean {
  let refused = refusal !== '';
  for (const part of parts) {
    if (part.kind === 'thinking') draft.keep('reasoning', part.native, part.text);
    else if (part.kind === 'other') draft.keep('other', part.native);
    else draft.say(part.text);
    refused ||= part.kind === 'refusal';
  }
  if (!draft.hasText) draft.say(refusal);
  return refused;
}

/** The calls of a message; undefined when an entry is not a call. */
function callsIn(message: Fields): Fields[] | undefined {
  const given = message.tool_calls ?? [];
  if (!Array.isArray(given) || given.length > CALLS_READ_MAX || !given.every(isJsonObject)) return undefined;
  const calls: Fields[] = given;
  const only: unknown = message.function_call;
  if (!isJsonObject(only)) return calls;
  // Some servers repeat the call in `function_call`, the older form for a single call.
  const again = calls.some(({ function: same }) => isJsonObject(same) && isSameCall(same, only));
  if (calls.length > 0) return again ? calls : undefined;
  return [{ function: only }];
}

function isSameCall(one: Fields, other: Fields): boolean {
  return one.name === other.name && sameJson(textOfArgs(one.arguments), textOfArgs(other.arguments));
}

function textOfArgs(args: unknown): string {
  return typeof args === 'string' ? args : exactJsonText(args);
}

function takeCall({ id, type, function: given, custom }: Fields, draft: AnswerDraft): void {
  if (isJsonObject(given)) draft.call(id, given.name, given.arguments);
  else draft.want(type === 'custom' || isJsonObject(custom) ? 'custom_tool_call' : 'unknown_item');
}

/** Keeps reasoning with the names of its fields, so that it can be sent back in them. */
function keepReasoning(message: Readonly<Record<string, unknown>>, draft: AnswerDraft): void {
  const given = REASONING_FIELDS.flatMap((field) => {
    const there = message[field] ?? '';
    return there === '' || (Array.isArray(there) && there.length === 0) ? [] : [[field, there] as const];
  });
  if (given.length === 0) return;
  const text = given.map(([, there]) => there).find((there) => typeof there === 'string');
  draft.keep('reasoning', Object.fromEntries(given), text);
}

/** Finish reasons of this format, as unified finish reasons. */
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
  // Some servers send `stop`, or no reason, although the answer holds calls.
  if (hasCalls && (reason === undefined || reason === 'stop')) return 'tool_calls';
  return reason ?? 'other';
}

/** Reads token counts. Servers agree on the fields for input and output, but not on the field for cached input. */
export function readChatUsage(given: unknown): Pick<ReadAnswer, 'usage' | 'usageDetails'> {
  const counts = fieldsOf(given);
  const [into, out] = [fieldsOf(counts.prompt_tokens_details), fieldsOf(counts.completion_tokens_details)];
  const first = (...all: readonly unknown[]) => all.find(isCount);
  return usageOf({
    in: counts.prompt_tokens,
    out: outOf(counts),
    cacheRead: first(
      into.cached_tokens,
      counts.cached_tokens,
      counts.prompt_cache_hit_tokens,
      counts.cache_read_input_tokens,
    ),
    cacheWrite: first(into.cache_write_tokens, into.cache_creation_tokens, counts.cache_creation_input_tokens),
    reasoning: first(out.reasoning_tokens, counts.reasoning_tokens),
  });
}

/** Some servers count reasoning tokens only in the total. */
function outOf({ prompt_tokens: into, completion_tokens: out, total_tokens: total }: Fields): unknown {
  if (!isCount(into) || !isCount(out) || !isCount(total)) return out;
  return Math.max(out, total - into);
}
