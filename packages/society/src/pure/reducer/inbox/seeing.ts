/**
 * What an entity is shown unasked: a plan of the entity asks the gate first, and in the same frame the entity goes on with
 * what the gate lets through, in `entity/seen.ts`.
 */

import type { EntityState, Look, Row, SeeingFor } from '../../contracts/index.js';
import { seePlan } from '../../plans/content-gate.js';
import { startPlan } from '../call/plans.js';
import type { EntityContext } from '../context/entity.js';
import { mayAsk } from '../rights/may-ask.js';

/** Looks at stores, and goes on with what is seen there. */
export function see(
  draft: EntityState,
  stores: readonly Pick<Look, 'store' | 'ids'>[],
  purpose: SeeingFor,
  ctx: EntityContext,
): void {
  const looks = stores.map((one) => ({ ...one, ask: mayAsk(draft, one.store, ctx) }));
  startPlan(ctx, planFor(purpose), { plan: seePlan, input: { looks, purpose } });
}

/** A call that waits is answered when its plan fails; of an input that waits, a fact says so. */
function planFor(purpose: SeeingFor): Row<'plans'> {
  if (purpose.for === 'input' || purpose.for === 'run') return { for: 'input', command_id: purpose.send.command_id };
  return purpose.for === 'news' || purpose.call === null ? { for: 'news' } : { for: 'call', call: purpose.call };
}
