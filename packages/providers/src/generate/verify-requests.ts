/** Compares every recorded model call of a world with the request that its parameters rebuild. */
import { llmGenerate } from '@reprise/agent/model';
import {
  type AskedModel,
  isRepriseError,
  type LlmGenerateParams,
  type LlmGenerateReceipt,
  llmGenerateParams,
  PROMPT_VERSION,
} from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { readFrame, requireReadable } from '@reprise/kernel/store';
import type { ModelClient } from '../model/model.js';
import { requireClients } from '../model/require-client.js';
import { assembleRequest } from './assemble-request.js';
import { answerIn, askedIn } from './recorded-call.js';

/** A call whose rebuilt request differs from the one that was sent. */
interface DifferentRequest {
  /** The sequence number of the frame that requested the call. */
  readonly seq: number;
  readonly effect: string;
  readonly expected: string;
  readonly actual: string;
}

/** A call whose request could not be compared, and why. */
interface UncomparedRequest {
  readonly seq: number;
  readonly effect: string;
  /**
   * `no_model`: the call's alias is not in `models`. `other_model`: a different model answered the call. `erased`,
   * `unreadable`: content of the request can no longer be read. `unknown_prompt`: a newer release recorded the call.
   */
  readonly why: 'no_model' | 'other_model' | 'erased' | 'unreadable' | 'unknown_prompt';
}

/** The result of the comparison. */
export interface RequestsReport {
  /** How many rebuilt requests equal the sent bytes. */
  readonly equal: number;
  readonly different: readonly DifferentRequest[];
  readonly uncompared: readonly UncomparedRequest[];
}

interface AnsweredCall {
  readonly seq: number;
  readonly effect: string;
  readonly params: LlmGenerateParams;
  readonly answer: LlmGenerateReceipt;
  readonly asked: AskedModel | undefined;
}

/**
 * Rebuilds the request of every answered model call and compares digests. Needs no network and no key.
 *
 * @param models clients by alias, as in `openWorld`
 * @throws RepriseError `journal_damaged`; errors of the store
 * @example
 * const { different } = await verifyRequests(await sqlite('world.db').openReadonly(), { main: openAiCompatible({ … }) })
 */
export async function verifyRequests(
  store: ReadonlyStore,
  models: Readonly<Record<string, ModelClient>>,
): Promise<RequestsReport> {
  requireReadable(store, 'verifyRequests');
  requireClients(models, 'verifyRequests');
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
  { params, answer, asked }: AnsweredCall,
  { content }: ReadonlyStore,
  models: Readonly<Record<string, ModelClient>>,
): Promise<Verdict> {
  const client = Object.hasOwn(models, params.model) ? models[params.model] : undefined;
  if (client === undefined) return 'no_model';
  const { profile_id, model_default } = client.profile;
  if (profile_id !== asked?.profile || model_default !== asked.model) return 'other_model';
  if (params.prompt !== PROMPT_VERSION) return 'unknown_prompt';
  try {
    const { digest, erased } = await assembleRequest(params, { content, client }, answer);
    if (digest === answer.request_digest) return 'equal';
    return erased ? 'erased' : { expected: answer.request_digest, actual: digest };
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
      const answer = answerIn(record.receipt);
      if (call !== undefined && answer !== undefined)
        yield { ...call, effect: record.effect, answer, asked: askedIn(record.receipt) };
    }
  }
}
