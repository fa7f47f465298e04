/** One request to a model, from the file of a world: what it held, where each part came from, and to whom it went. */

import {
  type AskedModel,
  aFlag,
  anObject,
  aSignal,
  type ContextText,
  fieldsOf,
  isRepriseError,
  type LlmGenerateParams,
  type LlmGenerateReceipt,
  llmGenerateParams,
  modelOptions,
  type OptionKind,
  PROMPT_VERSION,
  present,
  requireArgument,
  type Value,
} from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { toHex } from '@reprise/kernel/codec';
import { hostSha256 } from '@reprise/kernel/store';
import type { ModelClient } from '@reprise/providers';
import { answerIn, askedIn, type ProjectedCall, projectCall } from '@reprise/providers/recorded';
import { requireQuestion } from '../page/require.js';
import { type Candidate, candidatesFor } from './built-in.js';
import { type Call, type CallEnd, endOf, findCall } from './find-call.js';
import { historyOf } from './history.js';
import { jsonOf } from './json.js';
import { partsOf, toolsDiff } from './parts.js';
import type { RequestReport, SentRequest } from './report.js';

/** Which client wrote the request, and what of it is wanted. */
export interface RequestOfOptions {
  /** The client that wrote the request; without it the writers that Reprise brings are tried. */
  readonly client?: ModelClient;
  /** Whether the body is wanted as it was sent. */
  readonly sent?: boolean;
  readonly signal?: AbortSignal;
}

const KNOWN: Readonly<Record<keyof RequestOfOptions, true | OptionKind>> = {
  ...{ client: anObject, sent: aFlag, signal: aSignal },
};

/**
 * Rebuilds the request of one model call, from its parameters and the content that they link. Nothing is replayed: the
 * frames around the call are read, at most 10,000 on the way back.
 *
 * @param call `last`, the place of the call or its answer (`24.6`), or at least 8 digits of its effect
 * @throws RepriseError `invalid_argument` when no call is meant; `blob_missing`, `blob_erased` or `invalid_value` when its
 *   tools or options cannot be read
 * @example const { parts, asked, sent } = await requestOf(await sqlite('world.db').openReadonly(), 'last')
 */
export async function requestOf(
  store: ReadonlyStore,
  call: string,
  options: RequestOfOptions = {},
): Promise<RequestReport> {
  requireQuestion('requestOf', store, options, KNOWN);
  requireArgument(
    typeof call === 'string',
    'requestOf(call)',
    '`last`, a place such as `24.6`, or digits of an effect',
    call,
  );
  const { signal } = options;
  const found = await findCall(store, call, signal);
  const end = await endOf(store, found, signal);
  const answer = end.receipt === undefined ? undefined : answerIn(end.receipt);
  const asked = end.receipt === undefined ? undefined : askedIn(end.receipt);
  const made = await rebuilt(store, found.params, { answer, asked, client: options.client });
  const history = await historyOf(store, found, made.call.items.keys(), signal);
  const before = await stepBefore(store, history.before, made.candidate, signal);
  const context = found.params.context ?? answer?.context ?? [];
  const parts = partsOf({ call: made.call, before, beforeFrame: history.before?.frame.seq, history, context });
  return {
    ...placeOf(found, end),
    step: history.step,
    ...outcomeOf(end, asked),
    parts,
    parameters: parametersOf(found.params, made.call),
    left_out: leftOut(found.params, made.call, context, answer),
    before: beforeOf(history.before),
    tools: before === undefined ? null : toolsDiff(made.call.request.tools, before.request.tools),
    bytes: { parts: parts.reduce((sum, { bytes }) => sum + bytes, 0), sent: answer?.request_bytes ?? null },
    sent: sentOf(made, options.sent === true),
  };
}

/** A request that was rebuilt, and what is known of its bytes. */
interface Rebuilt {
  readonly call: ProjectedCall;
  readonly candidate: Candidate;
  readonly body: Uint8Array;
  readonly recorded: string | null;
  readonly recomputed: string;
  readonly known: boolean;
  readonly why?: SentRequest['why'];
}

async function rebuilt(
  { content }: ReadonlyStore,
  params: LlmGenerateParams,
  {
    answer,
    asked,
    client,
  }: {
    readonly answer: LlmGenerateReceipt | undefined;
    readonly asked: AskedModel | undefined;
    readonly client: ModelClient | undefined;
  },
): Promise<Rebuilt> {
  const candidates: readonly Candidate[] =
    client === undefined ? candidatesFor(asked ?? UNKNOWN) : [{ writer: client.profile.profile_id, client }];
  const recorded = answer?.request_digest ?? null;
  let first: Rebuilt | undefined;
  for (const candidate of candidates) {
    const call = await projectCall(params, {
      content,
      client: candidate.client,
      ...present({ context: answer?.context }),
    });
    const { body } = candidate.client.write(call.request);
    const recomputed = toHex(hostSha256()(body));
    const made: Rebuilt = { call, candidate, body, recorded, recomputed, known: asked !== undefined };
    if (recorded === null || recomputed === recorded) return { ...made, ...whyOf(made, params) };
    first ??= made;
  }
  const made = first as Rebuilt; // there is always a candidate
  return { ...made, ...whyOf(made, params) };
}

const UNKNOWN: AskedModel = { profile: 'script', model: 'script' };

function whyOf({ recorded, recomputed, call }: Rebuilt, { prompt }: LlmGenerateParams): Pick<SentRequest, 'why'> {
  if (recorded === null) return { why: 'no_answer' };
  if (recorded === recomputed) return {};
  if (prompt !== PROMPT_VERSION) return { why: 'unknown_prompt' };
  return { why: call.erased ? 'erased' : 'no_writer' };
}

function sentOf({ candidate, body, recorded, recomputed, why, known }: Rebuilt, wanted: boolean): SentRequest {
  const isSame = recorded === null ? null : recorded === recomputed;
  const writer = isSame === false || (isSame === null && !known) ? null : candidate.writer;
  const shown = wanted && writer !== null ? { body: new TextDecoder().decode(body) } : {};
  return {
    writer,
    recorded,
    recomputed: writer === null && isSame === null ? null : recomputed,
    isSame,
    ...present({ why }),
    ...shown,
  };
}

/** The request of the step before. What of it cannot be read leaves it out. */
async function stepBefore(
  store: ReadonlyStore,
  before: Call | undefined,
  { client }: Candidate,
  signal: AbortSignal | undefined,
): Promise<ProjectedCall | undefined> {
  if (before === undefined) return undefined;
  const { receipt } = await endOf(store, before, signal);
  const context = receipt === undefined ? undefined : answerIn(receipt)?.context;
  try {
    return await projectCall(before.params, { content: store.content, client, ...present({ context }) });
  } catch (error) {
    if (['blob_missing', 'blob_erased', 'invalid_value'].some((code) => isRepriseError(error, code as 'blob_missing')))
      return undefined;
    throw error;
  }
}

function placeOf({ record, frame, index }: Call, end: CallEnd) {
  const [reducer, session] = record.plan;
  const { startedAt } = end;
  return {
    effect: record.effect,
    place: `${frame.seq}.${index}`,
    frame: frame.seq,
    cell: `${reducer}/${session}`,
    session,
    receipt_frame: end.receiptFrame,
    attempts: end.attempts,
    ...present({ started_after_ms: startedAt === undefined ? undefined : Math.max(0, startedAt - frame.at) }),
    alias: llmGenerateParams.parse(record.params).model,
  };
}

function outcomeOf({ receipt }: CallEnd, asked: AskedModel | undefined) {
  const { code, response_model, first_chunk_ms } = receipt ?? {};
  return {
    status: receipt?.status ?? ('open' as const),
    ...present({ code, response_model, first_chunk_ms }),
    asked: asked ?? null,
    usage: receipt?.usage ?? null,
  };
}

function parametersOf(params: LlmGenerateParams, { request }: ProjectedCall): Record<string, unknown> {
  const linked = { response_format: request.responseFormat, provider_options: request.providerOptions };
  const own = Object.keys(modelOptions.shape).flatMap((name) => {
    const value = params[name as keyof typeof modelOptions.shape];
    return value === undefined || name.endsWith('_ref') ? [] : [[name, value] as const];
  });
  const all = { ...Object.fromEntries(own), ...present(linked) };
  return jsonOf(all as unknown as Value) as Record<string, unknown>;
}

function leftOut(
  { window: { from, base_ref, pins = [], dropped = [] }, context }: LlmGenerateParams,
  { warnings }: ProjectedCall,
  texts: readonly ContextText[],
  answer: LlmGenerateReceipt | undefined,
): RequestReport['left_out'] {
  const isUnknown = context === undefined && answer === undefined && texts.length === 0;
  return {
    items: from - pins.filter((item) => item < from).length,
    is_summarised: base_ref !== undefined,
    dropped: dropped.length,
    warnings,
    ...(isUnknown ? { context_unknown: true } : {}),
  };
}

function beforeOf(before: Call | undefined): RequestReport['before'] {
  if (before === undefined) return null;
  const fact = before.frame.records.find(
    (one) =>
      one.kind === 'fact' && one.name === 'aos.agent/LlmStepRequested@1' && one.from?.[1] === before.record.plan[1],
  );
  const { run, step } = fact?.kind === 'fact' ? fieldsOf(fact.value) : {};
  const number = (value: unknown) => (typeof value === 'number' ? value : null);
  return { effect: before.record.effect, frame: before.frame.seq, run: number(run), step: number(step) };
}
