/**
 * The content gate: the one place in a society that reads items. What an entity asks for and what it is shown unasked pass
 * the same effects, which the kernel judges with the store as their object, by the whole chain of rights.
 *
 * Invariants
 * C1  No other file of this package names the effects that read a store; `scripts/architecture/content.ts` checks it.
 * C2  What is shown unasked is judged when it is shown, and is no use of an item.
 * C3  A denial shows nothing. That something could not be read now is no denial.
 */
import * as z from '@reprise/contracts/schema';
import type { PlanBody, PlanContext, ReceiptOf } from '@reprise/kernel/define';
import { memoryRead, memorySearch, planOf, type ReadItem, type searchTerms, storeAt } from '@reprise/org/contracts';
import { LOOKS_MAX, type Look, look, type Seen, seeingFor } from '../contracts/group/seeing.js';

/** The effects of the gate, for the plans that use it. */
export const GATED_READS = [memoryRead, memorySearch] as const;

/** A receipt of the gate, without what it brings. */
type Verdict = Pick<ReceiptOf<unknown>, 'status' | 'code'>;

/** Reads items that were asked for: a use of each. */
export function readAsked(plan: PlanContext, store: string, ids: readonly number[]) {
  return plan.awaitReceipt(plan.emitEffect(memoryRead, { store, at: storeAt(store), ids: [...ids] }));
}

/** Begins to search a store, or to compose the text of items by their numbers. */
export function searchAsked(plan: PlanContext, store: string, terms: z.infer<typeof searchTerms>) {
  return plan.emitEffect(memorySearch, { store, ...terms });
}

/** Whether the gate, and not the store, refused. */
export function isDenied({ status, code = '' }: Verdict): boolean {
  return status === 'denied' || code.startsWith('cap_denied') || code.startsWith('policy_denied');
}

/** `society/see_plan@1`: looks at stores with the rights of this moment, one after the other, and tells the entity. */
export const seePlan = planOf('society/see_plan@1', () => ({
  input: z.strictObject({ looks: z.array(look).max(LOOKS_MAX), purpose: seeingFor }),
  effects: [memoryRead],
  *run({ looks, purpose }, plan) {
    const seen: Seen[] = [];
    for (const one of looks) seen.push(yield* see(plan, one));
    plan.raiseEvent({ name: 'society/Seen@1', value: { seen, purpose } });
  },
}));

/** The milliseconds after which a store is left for later: its own cell answers in the frame, unless a person decides. */
const PATIENCE_MS = 1;

function* see(plan: PlanContext, { store, ids, ask }: Look): PlanBody<Seen> {
  if (!ask) return { store, verdict: 'denied', items: [] };
  const asked = plan.emitEffect(memoryRead, { store, at: storeAt(store), ids: [...ids], shown: true });
  const receipt = yield* plan.awaitReceipt(asked, { within: PATIENCE_MS });
  if (receipt === null) plan.cancel(asked);
  if (receipt?.status !== 'ok') return { store, verdict: verdictOn(receipt), items: [] };
  const items = receipt.payload.items.filter((item) => isInUse(item, plan.now));
  return { store, verdict: 'seen', items: items.map(({ id, summary_ref }) => ({ id, summary_ref })) };
}

/** The gate asks for rights first: what it denies for a number of operations, or by an account, the rights permit. */
function verdictOn(receipt: Verdict | null): Seen['verdict'] {
  if (receipt === null || LATER.includes(receipt.code ?? '')) return 'later';
  return isDenied(receipt) || receipt.status === 'cancelled' ? 'denied' : 'later';
}

const LATER: readonly string[] = ['cap_denied/parallel', 'cap_denied/budget'];

function isInUse({ state, expires_at }: ReadItem, now: number): boolean {
  return state === 'live' && (expires_at === null || expires_at > now);
}
