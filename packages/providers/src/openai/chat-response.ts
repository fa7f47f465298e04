/** The chat-completions answer: from bytes to a unified response. Total: what it cannot read is `malformed`. */

import type { OpaquePart } from '@reprise/agent';
import type { Usage, Value } from '@reprise/contracts';
import { encode, VALUE_DEPTH_MAX } from '@reprise/kernel';
import * as z from 'zod';
import { FreshIds } from '../call-ids.js';
import type { RequestedCall, UnifiedResponse } from '../model.js';
import { cut, wellFormed } from '../text.js';
import { REASONING_FIELDS } from './chat-request.js';

/** The most calls of one answer that are kept: the bound of the receipt. */
const CALLS_MAX = 64;

/** How deep arguments may nest: they are kept inside the output's own three levels, which have to fit the codec's. */
const ARGS_DEPTH_MAX = VALUE_DEPTH_MAX - 8;

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

/** What an answer says, without the bytes around it. */
export type ReadCompletion = Omit<UnifiedResponse, 'request' | 'rawBody'>;

/** Removes secrets from a text. */
export type Scrub = (text: string) => string;

/**
 * Reads an answer.
 *
 * @param body what the provider sent, as JSON already parsed
 * @param idsInUse call ids of the request's history: an id of the answer that is among them gets a number
 * @param scrub removes secrets that the endpoint echoed
 * @returns undefined when this is not a completion
 */
export function readCompletion(body: unknown, idsInUse: Iterable<string>, scrub: Scrub): ReadCompletion | undefined {
  const parsed = completion.safeParse(body);
  const choice = parsed.data?.choices[0];
  if (parsed.data === undefined || choice === undefined) return undefined;
  const warnings: string[] = [];
  const { message } = choice;
  const refusal = message.refusal ?? '';
  const text = scrub(wellFormed(textOf(message.content) || refusal));
  const calls = readCalls(message.tool_calls ?? [], new FreshIds(idsInUse), scrub, warnings);
  return {
    ...(text === '' ? {} : { text }),
    calls,
    ...readReasoning(message, scrub, warnings),
    finishReason: refusal === '' ? finishReason(choice.finish_reason, calls.length > 0) : 'content_filter',
    ...responseId(parsed.data.id, scrub),
    ...readUsage(parsed.data.usage),
    warnings,
  };
}

function textOf(given: Completion['choices'][number]['message']['content']): string {
  if (typeof given === 'string') return given;
  return (given ?? []).map(({ text }) => text ?? '').join('');
}

/** Reasoning in the fields that it came in, so that it can go back in them. */
function readReasoning(
  message: Readonly<Record<string, unknown>>,
  scrub: Scrub,
  warnings: string[],
): Pick<ReadCompletion, 'opaque'> {
  const given = REASONING_FIELDS.flatMap((field) => {
    const there = message[field] ?? '';
    return there === '' || (Array.isArray(there) && there.length === 0) ? [] : [[field, there] as const];
  });
  if (given.length === 0) return {};
  const native = canonical(scrub(wellFormed(JSON.stringify(Object.fromEntries(given)))));
  if (native === undefined) {
    warnings.push('reasoning_dropped');
    return {};
  }
  const text = given.map(([, there]) => there).find((there) => typeof there === 'string');
  const part: OpaquePart = {
    kind: 'reasoning',
    ...(text === undefined ? {} : { text: scrub(wellFormed(text)) }),
    native,
  };
  return { opaque: [part] };
}

function readCalls(
  given: readonly z.infer<typeof toolCall>[],
  ids: FreshIds,
  scrub: Scrub,
  warnings: string[],
): RequestedCall[] {
  if (given.length > CALLS_MAX) warnings.push(`tool_calls_dropped:${given.length - CALLS_MAX}`);
  return given.slice(0, CALLS_MAX).map((call, i) => {
    const wanted = typeof call.id === 'string' ? cut(call.id, 128) : '';
    const callId = ids.take(wanted === '' ? `call_${i}` : scrub(wanted));
    if (wanted !== '' && callId !== wanted) warnings.push('call_id_changed');
    const name = typeof call.function.name === 'string' ? scrub(cut(call.function.name, 128)) : '';
    return { callId, tool: name === '' ? '_' : name, ...readArgs(call.function.arguments, scrub) };
  });
}

/** Arguments as data; when they are no JSON object, what the model wrote and why it cannot run. */
function readArgs(given: unknown, scrub: Scrub): Pick<RequestedCall, 'args' | 'issue'> {
  const written = wellFormed(typeof given === 'string' ? given : (JSON.stringify(given) ?? ''));
  const text = scrub(written);
  // Several servers send no text at all for a call without arguments.
  if (text.trim() === '') return { args: {} };
  const args = canonical(text);
  if (args === undefined) return { args: text, issue: 'args_not_json' };
  const isMap = typeof args === 'object' && args !== null && !Array.isArray(args);
  return isMap ? { args } : { args: text, issue: 'args_not_object' };
}

/** JSON text as a canonical value; undefined for what is no JSON, or JSON without a canonical form such as 1e999. */
function canonical(text: string): Value | undefined {
  try {
    const value = JSON.parse(text) as Value;
    encode(value, ARGS_DEPTH_MAX);
    return value;
  } catch {
    return undefined;
  }
}

const FINISH: Readonly<Record<string, ReadCompletion['finishReason']>> = {
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

function finishReason(given: unknown, hasCalls: boolean): ReadCompletion['finishReason'] {
  const reason = typeof given === 'string' && Object.hasOwn(FINISH, given) ? FINISH[given] : undefined;
  // Some servers say `stop`, or nothing, beside calls that want answers.
  if (hasCalls && (reason === undefined || reason === 'stop')) return 'tool_calls';
  return reason ?? 'other';
}

function responseId(id: unknown, scrub: Scrub): Pick<ReadCompletion, 'providerResponseId'> {
  if (typeof id !== 'string' || id.length > 256) return {};
  return { providerResponseId: scrub(wellFormed(id)) };
}

const tokens = z.int().min(0).nullish().catch(undefined);
const usageFields = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  prompt_tokens_details: z.object({ cached_tokens: tokens }).nullish().catch(undefined),
  completion_tokens_details: z.object({ reasoning_tokens: tokens }).nullish().catch(undefined),
});

function readUsage(given: unknown): Pick<ReadCompletion, 'usage' | 'usageDetails'> {
  const parsed = usageFields.safeParse(given);
  if (!parsed.success) return { usage: { calls: 1 } };
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = parsed.data;
  const cached = prompt_tokens_details?.cached_tokens;
  const reasoning = completion_tokens_details?.reasoning_tokens;
  const usage: Usage = {
    calls: 1,
    ...(isCount(prompt_tokens) ? { tokens_in: prompt_tokens } : {}),
    ...(isCount(completion_tokens) ? { tokens_out: completion_tokens } : {}),
    ...(isCount(cached) ? { tokens_cached: cached } : {}),
  };
  const details = {
    ...(isCount(reasoning) ? { tokens_reasoning: reasoning } : {}),
    ...(isCount(cached) ? { tokens_cache_read: cached } : {}),
  };
  return { usage, ...(Object.keys(details).length === 0 ? {} : { usageDetails: details }) };
}

function isCount(given: number | null | undefined): given is number {
  return given !== null && given !== undefined;
}
