/**
 * Settles effects that were running when the last holder stopped.
 *
 * `idempotent` is offered again; `at_most_once` is `outcome_unknown`, since it may have happened; `reconcile`
 * asks its adapter, and only `cannot_happen` permits another attempt. What was told to stop gets no other attempt.
 * No effect is performed twice unnoticed.
 */
import type { Receipt } from '@reprise/contracts';
import type { AnyAdapter, Reconciliation } from '../adapter/adapter.js';
import type { Dispatcher } from '../adapter/dispatcher.js';
import { decode, encode } from '../codec/index.js';
import type { EffectLeaf } from '../engine/index.js';

/** An effect that was armed when the world was opened. */
export interface Interrupted {
  readonly effect: string;
  readonly leaf: EffectLeaf;
}

/**
 * Settles or re-offers interrupted effects, in the order in which they were emitted.
 *
 * @param settle journals a receipt; resolves when it is durable
 */
export async function recoverEffects(
  interrupted: readonly Interrupted[],
  dispatcher: Dispatcher,
  settle: (effect: string, attempt: number, receipt: Receipt) => Promise<void>,
): Promise<void> {
  for (const { effect, leaf } of interrupted) {
    const receipt = await verdictOn(effect, leaf, dispatcher);
    if (receipt === 'offer_again') dispatcher.offerAgain(effect);
    else await settle(effect, leaf.attempt, receipt);
  }
}

async function verdictOn(effect: string, leaf: EffectLeaf, dispatcher: Dispatcher): Promise<Receipt | 'offer_again'> {
  const unknown: Receipt = { adapter: 'kernel', status: 'outcome_unknown', attempts: leaf.attempt };
  if (leaf.delivery === 'idempotent') return leaf.cancelled === true ? unknown : 'offer_again';
  const adapter = dispatcher.adapterFor(leaf.name);
  if (leaf.delivery === 'at_most_once' || adapter?.doReconcile === undefined) return unknown;
  const answer = await reconcile(adapter, effect, leaf, dispatcher);
  if (answer.verdict === 'cannot_happen')
    return leaf.cancelled === true ? { ...unknown, status: 'cancelled' } : 'offer_again';
  return answer.verdict === 'happened' ? dispatcher.receiptOf(adapter, leaf, answer.outcome) : unknown;
}

/** Asks the adapter; an adapter that throws has not answered. */
async function reconcile(
  adapter: AnyAdapter,
  effect: string,
  leaf: EffectLeaf,
  dispatcher: Dispatcher,
): Promise<Reconciliation> {
  try {
    const context = dispatcher.contextFor(effect, leaf, new AbortController().signal);
    return (await adapter.doReconcile?.(decode(encode(leaf.params)), context)) ?? { verdict: 'unknown' };
  } catch {
    return { verdict: 'unknown' };
  }
}
