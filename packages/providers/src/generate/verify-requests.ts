/** Holds every recorded model call of a world against the request that its parameters stand for. */
import { llmGenerate } from '@reprise/agent';
import {
  isRepriseError,
  type LlmGenerateParams,
  type LlmGenerateReceipt,
  llmGenerateParams,
  llmGenerateReceipt,
} from '@reprise/contracts';
import { type ReadonlyStore, readFrame } from '@reprise/kernel';
import type { ModelClient } from '../model/model.js';
import { PROMPT_VERSION } from '../prompt/assemble-prompt.js';
import { assembleRequest } from './assemble-request.js';

/** A call whose request is another than the one that was sent. */
export interface DifferentRequest {
  /** The frame that asked for it. */
  readonly seq: number;
  readonly effect: string;
  readonly expected: string;
  readonly actual: string;
}

/** A call whose request could not be compared, and why. */
export interface UncomparedRequest {
  readonly seq: number;
  readonly effect: string;
  /**
   * `no_model`: its alias is not among those given. `other_model`: another answered then. `erased`, `unreadable`: what
   * it told is gone. `unknown_prompt`: a newer release recorded it.
   */
  readonly why: 'no_model' | 'other_model' | 'erased' | 'unreadable' | 'unknown_prompt';
}

/** What came of comparing. */
export interface RequestsReport {
  /** How many requests are, in bytes, what was sent. */
  readonly equal: number;
  readonly different: readonly DifferentRequest[];
  readonly uncompared: readonly UncomparedRequest[];
}

interface AnsweredCall {
  readonly seq: number;
  readonly effect: string;
  readonly params: LlmGenerateParams;
  readonly receipt: LlmGenerateReceipt;
}

/**
 * Projects every model call that was answered again and compares digests. Needs no network and no key.
 *
 * @param models clients by alias, as the world was opened with
 * @throws RepriseError `journal_damaged`; what the store throws
 * @example
 * const { different } = await verifyRequests(await sqlite('world.db').openReadonly(), { main: openAiCompatible({ … }) })
 */
export async function verifyRequests(
  store: ReadonlyStore,
  models: Readonly<Record<string, ModelClient>>,
): Promise<RequestsReport> {
  const report = { equal: 0, different: [] as DifferentRequest[], uncompared: [] as UncomparedRequest[] };
  for await (const call of answeredCalls(store)) {
    const verdict = await compare(call, store, models);
    const { seq, effect } = call;
    if (verdict === 'equal') report.equal++;
    else if (typeof verdict === 'string') report.uncompared.push({ seq, effect, why: verdict });
    else report.different.push({ seq, effect, ...verdict });
  }
  return report;
}

type Verdict = 'equal' | UncomparedRequest['why'] | Pick<DifferentRequest, 'expected' | 'actual'>;

async function compare(
  { params, receipt }: AnsweredCall,
  { content }: ReadonlyStore,
  models: Readonly<Record<string, ModelClient>>,
): Promise<Verdict> {
  const client = Object.hasOwn(models, params.model) ? models[params.model] : undefined;
  if (client === undefined) return 'no_model';
  const { profile_id, model_default } = client.profile;
  if (profile_id !== receipt.by.profile || model_default !== receipt.by.model) return 'other_model';
  if (params.prompt !== PROMPT_VERSION) return 'unknown_prompt';
  try {
    const { digest, erased } = await assembleRequest(params, { content, client }, receipt);
    if (digest === receipt.request_digest) return 'equal';
    return erased ? 'erased' : { expected: receipt.request_digest, actual: digest };
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return 'erased';
    if (isRepriseError(error, 'blob_missing') || isRepriseError(error, 'invalid_value')) return 'unreadable';
    throw error;
  }
}

async function* answeredCalls({ journal }: ReadonlyStore): AsyncGenerator<AnsweredCall> {
  const asked = new Map<string, { readonly seq: number; readonly params: LlmGenerateParams }>();
  for await (const { seq, bytes } of journal.read(0)) {
    for (const record of readFrame(bytes, seq).all) {
      if (record.kind === 'effect' && record.name === llmGenerate.name) {
        const params = llmGenerateParams.safeParse(record.params);
        if (params.success) asked.set(record.effect, { seq, params: params.data });
      }
      if (record.kind !== 'receipt') continue;
      const call = asked.get(record.effect);
      asked.delete(record.effect);
      const receipt = llmGenerateReceipt.safeParse(record.receipt.payload);
      if (call !== undefined && receipt.success) yield { ...call, effect: record.effect, receipt: receipt.data };
    }
  }
}
