/** A plan of an entity failed as a plan: what waited for it goes on without. */

import { takePurpose } from '@reprise/org/contracts';
import type { EntityState } from '../../contracts/entity/entity.js';
import { answerCall } from '../call/answers.js';
import { refusal } from '../call/operations.js';
import type { EntityContext } from '../context/entity.js';
import { stagingPlanFailed } from '../staging/reviews.js';
import { notCleared } from './clearing.js';

/** Follows the failure of a plan, by its number. Of news that was not seen nothing is said. */
export function planFailed(draft: EntityState, plan: number, code: string, ctx: EntityContext): void {
  const purpose = takePurpose(ctx.table('plans'), plan);
  switch (purpose?.for) {
    case 'call':
      return answerCall(draft, purpose.call, refusal('plan_failed', { cause: code }), ctx);
    case 'removal':
      return notCleared(draft, purpose.agent_id, ctx);
    case 'return':
      return stagingPlanFailed(draft, purpose.staging, code, ctx);
    case 'input':
      return ctx.record('society/InputRefused@1', { command_id: purpose.command_id, code: code.slice(0, 96) });
    default:
  }
}
