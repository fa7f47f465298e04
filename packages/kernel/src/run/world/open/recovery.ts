/**
 * Settles effects that were running when the last process with the lock stopped.
 *
 * `idempotent` is offered again; `at_most_once` is `outcome_unknown`, since it may have happened; `reconcile`
 * asks its adapter, and only `cannot_happen` permits another attempt. An effect that was told to stop gets no other
 * attempt. No side effect is silently repeated.
 */
import type { Receipt } from '@reprise/contracts';
import type { AdapterOutcome, AnyAdapter, Reconciliation } from '../../../ports/adapter/adapter.js';
import type { Clock } from '../../../ports/time/clock.js';
import { decode, encode } from '../../../pure/codec/index.js';
import type { EffectLeaf } from '../../../pure/engine/index.js';
import type { Dispatcher } from '../../dispatch/dispatcher.js';

const UNKNOWN: Reconciliation = { verdict: 'unknown' };

/** An effect that was armed when the world was opened. */
export interface Interrupted {
  readonly effect: string;
  readonly leaf: EffectLeaf;
}

/**
 * How long an adapter may take to answer about one effect, in milliseconds of the world's clock. Nothing starts before
 * all have answered, so one that never answers would keep the world from opening; half a minute is longer than any
 * working service takes to look up an idempotency key.
 */
const RECONCILE_MS_MAX = 30_000;

interface RecoveryParts {
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** Journals a receipt; resolves when it is durable. */
  settle(effect: string, attempt: number, receipt: Receipt): Promise<unknown>;
}

/**
 * Settles or re-offers interrupted effects, in the order in which they were emitted. Adapters are asked about all of
 * them at once.
 */
export async function recoverEffects(interrupted: readonly Interrupted[], parts: RecoveryParts): Promise<void> {
  const asked = interrupted.map((one) => ({ ...one, verdict: verdictOn(one, parts) }));
  for (const { effect, leaf, verdict } of asked) {
    const receipt = await verdict;
    if (receipt === 'offer_again') parts.dispatcher.offerAgain(effect);
    else await parts.settle(effect, leaf.attempt, receipt);
  }
}

/** Never rejects: an adapter that cannot tell counts as unknown. */
async function verdictOn(interrupted: Interrupted, parts: RecoveryParts): Promise<Receipt | 'offer_again'> {
  const { effect, leaf } = interrupted;
  const { dispatcher } = parts;
  const base = { adapter: 'kernel', attempts: leaf.attempt };
  const again =
    leaf.cancelled !== undefined || leaf.late !== undefined
      ? ({ ...base, status: 'cancelled' } as const)
      : 'offer_again';
  if (leaf.guarantee === 'idempotent') return again;
  const adapter = dispatcher.adapterFor(leaf.name);
  if (leaf.guarantee === 'reconcile' && adapter?.doReconcile !== undefined) {
    const answer = await reconcile(adapter, interrupted, parts);
    if (answer.verdict === 'cannot_happen') return again;
    if (answer.verdict === 'happened') return dispatcher.receiptOf(effect, adapter, leaf, answer.outcome);
  }
  return { ...base, status: 'outcome_unknown' };
}

/** Asks the adapter. One that throws, returns nonsense or does not answer in time counts as not knowing. */
async function reconcile(
  adapter: AnyAdapter,
  { effect, leaf }: Interrupted,
  { dispatcher, clock }: RecoveryParts,
): Promise<Reconciliation> {
  const [over, answered] = [new AbortController(), new AbortController()];
  const late = clock.sleep(RECONCILE_MS_MAX, answered.signal).then((): Reconciliation => {
    if (!answered.signal.aborted) over.abort();
    return UNKNOWN;
  });
  const { context, said } = dispatcher.contextFor(effect, leaf, adapter, over.signal);
  const ask = async (): Promise<Reconciliation> => {
    try {
      const answer = await adapter.doReconcile?.(decode(encode(leaf.params)), context);
      const { verdict } = answer ?? UNKNOWN;
      if (verdict !== 'happened') return verdict === 'cannot_happen' ? { verdict } : UNKNOWN;
      return { verdict, outcome: (answer as { readonly outcome: AdapterOutcome }).outcome };
    } catch (error) {
      said.report(error);
      return UNKNOWN;
    }
  };
  try {
    return await Promise.race([ask(), late]);
  } finally {
    said.reported?.flush();
    answered.abort();
  }
}
