/**
 * The usage of a model call whose request was sent more than once: the provider charges every attempt that it answers.
 *
 * Invariants
 * N1  Usage that a failed attempt reported is added to that of the call. All attempts send the same bytes, so `calls`,
 *     the number of attempts that reported usage, tells the size of one prompt.
 * N2  A call whose last attempt reported nothing stays unreported, so that its whole reservation counts.
 */
import type { Usage } from '@reprise/contracts';
import type { ModelResult } from '../model/model.js';

const FIELDS = ['tokens_in', 'tokens_out', 'tokens_cached', 'micro_money'] as const;

export function tokensKnown(usage: Usage | undefined): boolean {
  return usage?.tokens_in !== undefined || usage?.tokens_out !== undefined;
}

/** Adds up the usage of attempts. */
export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = { calls: (one.calls ?? 1) + (other.calls ?? 1) };
  for (const field of FIELDS)
    if (one[field] !== undefined || other[field] !== undefined) sum[field] = (one[field] ?? 0) + (other[field] ?? 0);
  return sum;
}

/** The result of a call, with the usage of the attempts before its last one (N1, N2). */
export function withUsage(result: ModelResult, before: Usage | undefined): ModelResult {
  if (before === undefined) return result;
  if (!result.ok) {
    const { failure } = result;
    if (failure.status !== 'error') return result;
    const usage = addUsage(before, failure.usage);
    return { ...result, failure: usage === undefined ? failure : { ...failure, usage } };
  }
  const { response } = result;
  const usage = tokensKnown(response.usage) ? addUsage(before, response.usage) : response.usage;
  return usage === undefined ? result : { ok: true, response: { ...response, usage } };
}
