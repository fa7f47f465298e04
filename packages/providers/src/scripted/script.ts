/**
 * A model that answers from a script: for tests, examples and documentation. It fails on a missing or an extra step.
 *
 * It streams like a real model: the reasoning, text and calls of each step arrive in two pieces, so that watchers have
 * a stream to watch.
 */

import type { Price } from '@reprise/agent';
import {
  type FailureCode,
  RepriseError,
  requireCallable,
  requireFields,
  shortText,
  type Usage,
  type Value,
  wellFormed,
} from '@reprise/contracts';
import { encode } from '@reprise/kernel/codec';
import { FreshIds } from '../model/call-ids.js';
import { type Json, jsonText, toJson } from '../model/json.js';
import type {
  ModelClient,
  ModelContext,
  ModelNote,
  ModelResult,
  ProviderProfile,
  RequestedCall,
  UnifiedMessage,
  UnifiedRequest,
  UnifiedResponse,
  UnifiedSaying,
  WrittenRequest,
} from '../model/model.js';
import { type ProfileOptions, requireProfileOptions } from '../model/profile-options.js';
import { requireClient } from '../model/require-client.js';
import { Derived } from '../model/steady.js';
import { sleep } from '../transport/retry.js';
import { writtenOf } from '../wire/request-fields.js';
import { profileOf } from '../wire/wire-client.js';
import { requireStep, requireStepOrFunction } from './script-steps.js';

/** How much of a step or a request an error shows. */
const SHOWN_UNITS_MAX = 201;

/** The model's answer at one step. */
export interface ScriptStep {
  readonly text?: string;
  /** The answer's text is this value as JSON. */
  readonly json?: Value;
  readonly calls?: readonly { readonly tool: string; readonly args: Value }[];
  /** The model's reasoning; stored as an opaque part that only this script can read. */
  readonly reasoning?: string;
  /** Makes the step fail with this code; it is retryable when the code says so. */
  readonly fail?: FailureCode;
  /** Breaks the stream after this many characters of the text; the retry then delivers the whole text. */
  readonly cut?: number;
  readonly usage?: Usage;
  /** A pause in the middle of the text, in milliseconds; `Infinity` waits until the call is stopped. */
  readonly delayMs?: number;
}

/** A message of a request, in a form for tests. */
interface ScriptMessage {
  readonly role: UnifiedMessage['role'];
  readonly text: string;
  readonly calls?: readonly { readonly tool: string; readonly args: Json }[];
  /** For a result: whether the call failed. */
  readonly isError?: boolean;
}

/** A request, in a form for tests. */
export interface ScriptRequest {
  readonly system: string;
  readonly messages: readonly ScriptMessage[];
  readonly tools: readonly string[];
  /** The text of the last message. */
  readonly last: string;
  /** The unified request, as every client receives it. */
  readonly unified: UnifiedRequest;
}

/** A step, or a function that makes a step from the request. */
type ScriptAnswer = ScriptStep | ((request: ScriptRequest) => ScriptStep);

/** A model that answers from a script, and keeps what it was asked. */
export interface ScriptedModel extends ModelClient {
  /** The requests it received, in order. */
  readonly requests: readonly ScriptRequest[];
  /**
   * Asserts that the number of requests equals the number of steps.
   *
   * @throws RepriseError `invalid_argument` that lists the unused steps or the surplus requests
   */
  done(): void;
}

const PROFILE: ProviderProfile = Object.freeze({
  profile_id: 'script',
  provider: 'script',
  model_default: 'script',
  supports_parallel_tool_calls: true,
  supports_reasoning_effort: true,
  supports_streaming: true,
  supports_tool_choice_named: true,
});

/**
 * Makes a model that answers with these steps in order, one for each request. It begins at the first step, so another
 * process that opens the same world begins there too, also in the middle of a run: the model then asks for the same calls
 * again. A program that is started again uses {@link scriptBy}, which answers by what it reads.
 *
 * A request after the last step fails with a terminal provider failure, so that a loop ends.
 *
 * @throws RepriseError `invalid_argument` for a step that is neither a step nor a function, such as a list of steps, and
 *   for an unknown field
 * @example
 * const model = script({ calls: [{ tool: 'add', args: { a: 2, b: 3 } }] }, { text: 'It is 5.' })
 */
export function script(...steps: readonly ScriptAnswer[]): ScriptedModel {
  for (const [i, step] of steps.entries()) requireStepOrFunction(step, `step ${i + 1}`);
  const model = scripted((request, number) => {
    const step = steps[number - 1];
    return typeof step === 'function' ? madeStep(step(request), number) : step;
  });
  return {
    ...model,
    done: () => {
      const left = steps.slice(model.requests.length);
      const surplus = model.requests.slice(steps.length);
      if (left.length === 0 && surplus.length === 0) return;
      throw new RepriseError('invalid_argument', 'the script and the requests differ in number', {
        expected: `${steps.length} requests`,
        actual: `${model.requests.length}`,
        hint: [
          ...left.map((step, i) => `Step ${model.requests.length + i + 1} was not used: ${describe(step)}`),
          ...surplus.map(
            ({ last }, i) =>
              `Request ${steps.length + i + 1} has no step; it ends with: ${shortText(last, SHOWN_UNITS_MAX)}`,
          ),
        ].join('\n'),
      });
    },
  };
}

/**
 * Returns the same model with a price, for example for a scripted model in a test of money limits.
 *
 * @throws RepriseError `invalid_argument` when the price is invalid
 * @example const model = withPrice(script({ text: 'x', usage: { tokens_in: 1_000, tokens_out: 100 } }), { in: 3, out: 15 })
 */
export function withPrice<M extends ModelClient>(model: M, price: Price): M {
  requireClient(model, 'withPrice');
  requireFields(price, 'withPrice(price)', 'dollars for a million tokens, as { in, out }');
  const { model_default, ...profile } = model.profile;
  return { ...model, profile: profileOf(profile, { price }, model_default) };
}

/**
 * Makes a model that answers every request with a function, for tests with random worlds.
 *
 * @param answer receives the request and its number, from 1; returning undefined ends the script
 * @param options the model's price and profile
 * @example const model = scriptBy(({ last }) => ({ text: last.toUpperCase() }))
 */
export function scriptBy(
  answer: (request: ScriptRequest, number: number) => ScriptStep | undefined,
  options: ProfileOptions = {},
): Omit<ScriptedModel, 'done'> {
  requireCallable(answer, 'scriptBy', 'answer');
  requireProfileOptions(options, 'scriptBy');
  return scripted((request, number) => {
    const step = answer(request, number);
    return step === undefined ? undefined : madeStep(step, number);
  }, options);
}

/** A step that a function made: it is checked where it is used. */
function madeStep(step: ScriptStep, number: number): ScriptStep {
  requireStep(step, `the step of a function, at request ${number}`);
  return step;
}

function scripted(
  answer: (request: ScriptRequest, number: number) => ScriptStep | undefined,
  options: ProfileOptions = {},
) {
  const requests: ScriptRequest[] = [];
  return {
    requests,
    profile: profileOf(PROFILE, options, PROFILE.model_default),
    write: writePlain,
    generate: async (unified: UnifiedRequest, context: ModelContext): Promise<ModelResult> => {
      const request = readable(unified);
      const number = requests.push(request);
      const step = answer(request, number);
      return step === undefined
        ? failure('provider_error_terminal/script_ended')
        : play(step, number, unified, context);
    },
  };
}

const plainTools = new Derived<Readonly<Record<string, Json>>>();

/** Writes a request as plain JSON data, for models without a wire format. */
export function writePlain(request: UnifiedRequest): WrittenRequest {
  const { messages, tools, system, ...options } = request;
  const body = {
    ...(toJson(options as unknown as Value) as Record<string, Json>),
    system,
    tools: tools.map((tool) => plainTools.of(tool, [], '', () => ({ ...tool, schema: toJson(tool.schema) }))),
    messages: toJson(messages as unknown as Value),
  };
  return writtenOf({ body, warnings: [] });
}

function readable(unified: UnifiedRequest): ScriptRequest {
  const messages = unified.messages.map((message): ScriptMessage => {
    if (message.role === 'user') return { role: 'user', text: readableSaying(message) };
    if (message.role === 'tool') return { role: 'tool', text: message.text, isError: message.isError };
    const calls = message.calls.map(({ tool, args }) => ({ tool, args: toJson(args) }));
    return { role: 'assistant', text: message.text ?? '', ...(calls.length === 0 ? {} : { calls }) };
  });
  return {
    system: unified.system,
    messages,
    tools: unified.tools.map(({ name }) => name),
    last: messages.at(-1)?.text ?? '',
    unified,
  };
}

function readableSaying({ parts }: UnifiedSaying): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : `[${part.mediaType} ${part.name}]`)).join('\n\n');
}

function failure(code: FailureCode, usage?: Usage): ModelResult {
  const retryable = code.startsWith('provider_error_retryable');
  return { ok: false, failure: { status: 'error', code, retryable, ...(usage === undefined ? {} : { usage }) } };
}

async function play(
  step: ScriptStep,
  number: number,
  unified: UnifiedRequest,
  context: ModelContext,
): Promise<ModelResult> {
  const text = step.json === undefined ? wellFormed(step.text ?? '') : jsonText(step.json);
  const calls = callsOf(step, number, unified);
  const tell = (channel: (ModelNote & { type: 'delta' })['channel'], piece: string, index = 0) => {
    if (piece !== '') context.progress({ type: 'delta', channel, index, text: wellFormed(piece) });
  };
  if (step.cut !== undefined) {
    tell('text', text.slice(0, step.cut));
    context.progress({ type: 'delta.reset' });
    context.progress({ type: 'retry', retry: 1, wait_ms: 0, code: 'provider_error_retryable/network' });
  }
  tell('reasoning', step.reasoning ?? '');
  const [head, tail] = halves(text);
  tell('text', head);
  if (!(await pause(step.delayMs, context.signal))) {
    if (head === '') return { ok: false, failure: { status: 'cancelled' } };
    const said = { text: wellFormed(head), calls: [], finishReason: 'interrupted' as const };
    return { ok: true, response: responseOf(step, unified, said) };
  }
  if (step.fail !== undefined) return failure(step.fail, step.usage);
  tell('text', tail);
  calls.forEach(({ args }, i) => {
    for (const half of halves(jsonText(args))) tell('tool_args', half, i);
  });
  const reasoning = step.reasoning === undefined ? {} : { opaque: [reasoningOf(wellFormed(step.reasoning))] };
  const finishReason = calls.length > 0 ? ('tool_calls' as const) : ('stop' as const);
  const said = { ...(text === '' ? {} : { text }), calls, finishReason, ...reasoning };
  return { ok: true, response: responseOf(step, unified, said) };
}

function reasoningOf(text: string) {
  return { kind: 'reasoning' as const, text, native: { text } };
}

function responseOf(
  step: ScriptStep,
  unified: UnifiedRequest,
  said: Pick<UnifiedResponse, 'text' | 'calls' | 'opaque' | 'finishReason'>,
): UnifiedResponse {
  return {
    ...said,
    request: writePlain(unified),
    rawBody: encode({
      ...(said.text === undefined ? {} : { text: said.text }),
      calls: said.calls.map(({ args }) => args),
    }),
    usage: { calls: 1, ...step.usage },
    warnings: [],
  };
}

function callsOf(step: ScriptStep, number: number, unified: UnifiedRequest): RequestedCall[] {
  const taken = unified.messages.flatMap((m) => (m.role === 'assistant' ? m.calls.map(({ callId }) => callId) : []));
  const ids = new FreshIds(taken);
  return (step.calls ?? []).map(({ tool, args }, i) => ({ callId: ids.take(`call_${number}_${i + 1}`), tool, args }));
}

function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** Waits; returns false when the signal stopped it. */
async function pause(delayMs: number | undefined, signal: AbortSignal): Promise<boolean> {
  if (delayMs === undefined) return !signal.aborted;
  try {
    if (delayMs === Infinity) await untilAborted(signal);
    else await sleep(delayMs, signal);
    return true;
  } catch {
    return false;
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function describe(step: ScriptAnswer): string {
  return typeof step === 'function' ? 'a function' : shortText(JSON.stringify(step), SHOWN_UNITS_MAX);
}
