/** What turns requests of one kind into sessions, and the adapter of `work.prepare@1`, which asks it. */
import type { PartHost } from '@reprise/agent';
import { type Capability, type FailureCode, RepriseError, type Value } from '@reprise/contracts';
import {
  type Adapter,
  type AdapterContext,
  type AdapterOutcome,
  adapterOf,
  type ContentStore,
  getValue,
} from '@reprise/kernel';
import { type WorkPrepared, type WorkPrepareParams, workPrepare } from '../pure/job/contracts.js';

/** A request, with the content behind its link. */
export interface JobRequest extends WorkPrepareParams {
  /** The value behind `request_ref`; null without one. */
  readonly request: Value;
}

/** What a preparer may use: the host of the parts, and the execution it is called for. */
export interface PrepareHost extends Omit<PartHost, 'content'> {
  /** Reads requests and stores texts: of the world, with its secrets removed. */
  readonly content: ContentStore;
  /** Aborted when the job is stopped. */
  readonly signal: AbortSignal;
  /** The current rights of the job: its session never has more. */
  rights(): Promise<Capability>;
}

/**
 * Prepares the jobs of one kind: reads files and prompts, chooses the definition, and lays out the input.
 *
 * It is called once for each attempt of a job, and again after a crash in its middle. It throws {@link NotPrepared} to
 * refuse a job.
 */
export interface Preparer {
  /** The kind of requests that it reads; unique in a world. */
  readonly kind: string;
  prepare(request: JobRequest, host: PrepareHost): Promise<WorkPrepared>;
}

/**
 * Refuses a job: it ends as `failed` with the code `adapter_error/<reason>`.
 *
 * @example throw new NotPrepared('skill_not_found', 'there is no skill "reviewer"')
 */
export class NotPrepared extends Error {
  override readonly name = 'NotPrepared';

  /**
   * @param reason `a–z 0–9 _`, listed in the failure codes of its package
   * @param message for the reports of errors; it is not journaled
   */
  constructor(
    readonly reason: string,
    message?: string,
  ) {
    super(message ?? reason);
  }
}

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
