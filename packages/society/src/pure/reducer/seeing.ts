/**
 * What an entity is shown unasked: a plan of the entity asks the gate first, and in the same frame the entity goes on with
 * what the gate lets through, in `seen.ts`.
 */
import type { ReducerContext } from '@reprise/kernel/define';
import type { EntityState, Look, SeeingFor } from '../contracts/index.js';
import { seePlan } from '../plans/content-gate.js';
import { startPlan } from './call-plans.js';
import { mayAsk } from './may-ask.js';

/** Looks at stores, and goes on with what is seen there. */
export function see(
  draft: EntityState,
  stores: readonly Pick<Look, 'store' | 'ids'>[],
  purpose: SeeingFor,
  ctx: ReducerContext,
): void {
  const looks = stores.map((one) => ({ ...one, ask: mayAsk(draft, one.store, ctx) }));
  startPlan(ctx, tagOf(purpose), seePlan, { looks, purpose });
}

/** Begins what the plan of an input is known by; the id of the input follows. */
const INPUT_TAG = 'input.';
const NEWS_TAG = 'news';

/** A call that waits is answered when its plan fails; of an input that waits, a fact says so. */
function tagOf(purpose: SeeingFor): string {
  if (purpose.for === 'input' || purpose.for === 'run') return `${INPUT_TAG}${purpose.send.command_id}`;
  return purpose.for === 'news' ? NEWS_TAG : (purpose.call ?? NEWS_TAG);
}

/** A plan that looked at stores failed as a plan. @returns whether the tag was one of its own */
export function seeingFailed(tag: string, code: string, ctx: ReducerContext): boolean {
  if (tag === NEWS_TAG) return true;
  if (!tag.startsWith(INPUT_TAG)) return false;
  ctx.record('society/InputRefused@1', { command_id: tag.slice(INPUT_TAG.length), code: code.slice(0, 96) });
  return true;
}
