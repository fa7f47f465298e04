/**
 * Which operations of an agent count as failed (SOC-82): those of which an adapter or a model reports that it failed, or
 * took too long. What an operation answers, such as a refusal, a denial or a conflict, is no failure.
 */
import type { ChildNotice } from '@reprise/agent/contracts';
import type { JobChanged } from '@reprise/org/contracts';

/** The kinds of failure codes, and the statuses of receipts without a code, that count. */
const FAILED: readonly string[] = [
  'adapter_error',
  'adapter_timeout',
  'provider_error_retryable',
  'provider_error_terminal',
  'error',
  'timeout',
];

/** A cell that is not there, such as a store in which nobody has written: that is an answer, too. */
const ABSENT = 'adapter_error/no_settler';

/** The events by which the plans of an entity tell of their effects: `code` is that of the receipt. */
const OUTCOMES: readonly string[] = [
  'society/Keyed@1',
  'society/Challenged@1',
  'society/Proved@1',
  'society/ReturnProved@1',
  'society/Compared@1',
  'society/Copied@1',
  'society/SwarmChecked@1',
  'society/MemoryEnded@1',
];

/** Ends the codes of services that take no more requests for now, or none beyond what is paid for. */
const LIMITED: readonly string[] = ['rate_limited', 'quota'];

/** Whether the operation that failed met a limit of the service that it asked: others would meet it as well. */
export function isRateLimited({ name, value }: { readonly name: string; readonly value: unknown }): boolean {
  const code = codeIn(name, value);
  return typeof code === 'string' && LIMITED.includes(code.split('/')[1] ?? '');
}

/** Whether an event tells of a failed operation: of a plan of the entity, of a run of a session, or of a job. */
export function isFailedOperation({ name, value }: { readonly name: string; readonly value: unknown }): boolean {
  const code = codeIn(name, value);
  return typeof code === 'string' && code !== ABSENT && FAILED.includes(code.split('/')[0] as string);
}

function codeIn(name: string, value: unknown): unknown {
  if (OUTCOMES.includes(name)) return (value as { readonly code?: unknown }).code;
  if (name === 'work/JobChanged@1') return (value as JobChanged).code;
  if (name !== 'aos.agent/ChildNotice@1') return undefined;
  const { news } = value as ChildNotice;
  return news.kind === 'settled' && news.stop.kind === 'Failed' ? news.stop.code : undefined;
}
