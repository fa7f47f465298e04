/** What turns requests of one kind into sessions. */
import type { PartHost } from '@reprise/agent';
import type { Capability, Value } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import type { WorkPrepared, WorkPrepareParams } from '../pure/job/contracts.js';

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
