/** Executes `work.prepare@1`: passes a request to the preparer of its kind. */
import type { PartHost } from '@reprise/agent';
import { type FailureCode, RepriseError } from '@reprise/contracts';
import { type Adapter, type AdapterContext, type AdapterOutcome, adapterOf, getValue } from '@reprise/kernel';
import { type WorkPrepared, type WorkPrepareParams, workPrepare } from '../pure/job/contracts.js';
import { NotPrepared, type Preparer } from './preparer.js';

/** The preparers of a world, by kind. */
export type Preparers = Map<string, Preparer>;

/** The adapter of `work.prepare@1`, which has the preparer of the kind read the request. */
export function prepareAdapter(host: PartHost, preparers: Preparers): Adapter<WorkPrepareParams, WorkPrepared> {
  return adapterOf(workPrepare, {
    name: 'work.prepare',
    async doExecute(params, context) {
      const preparer = preparers.get(params.kind);
      if (preparer === undefined) return refused('adapter_error/no_preparer');
      try {
        return { status: 'ok', payload: await prepared(preparer, params, host, context) };
      } catch (error) {
        return refusalOf(error, context);
      }
    },
  });
}

async function prepared(
  preparer: Preparer,
  params: WorkPrepareParams,
  host: PartHost,
  { content, signal, rights }: AdapterContext,
): Promise<WorkPrepared> {
  const request = params.request_ref === null ? null : await getValue(content, params.request_ref);
  return preparer.prepare({ ...params, request }, { ...host, content, signal, rights });
}

/** Content that is gone is a refusal; any other error is a defect of the preparer. */
function refusalOf(error: unknown, { report }: AdapterContext): AdapterOutcome<WorkPrepared> {
  if (error instanceof NotPrepared) {
    report?.(error);
    return refused(`${REFUSAL}/${error.reason}`);
  }
  const code = error instanceof RepriseError ? GONE[error.code] : undefined;
  if (code === undefined) throw error;
  return refused(code);
}

function refused(code: string): AdapterOutcome<WorkPrepared> {
  return { status: 'error', code: code as FailureCode, retryable: false };
}

/** The kind of a preparer's own refusals; their reasons are its own. */
const REFUSAL = 'adapter_error';

/** What a preparer cannot read, by the error that says so. */
const GONE: Readonly<Record<string, FailureCode>> = {
  blob_missing: 'adapter_error/blob_missing',
  blob_erased: 'adapter_error/blob_erased',
};
