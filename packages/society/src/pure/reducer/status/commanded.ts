/** Commands of entities above that change the status of this entity. */

import { isLegal } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import { archiveIdOf } from '../../contracts/memory/tools.js';
import { type OperationsOf, refuse } from '../call/operations.js';
import { timeOf } from '../call/time.js';
import { type EntityContext, idOf } from '../context/entity.js';
import { endOf, requireAsker, requireWithin, secondsUntil } from '../rights/agent-terms.js';
import { aboveOf } from '../rights/rights.js';
import { setStatus } from './status.js';

const COMMANDS = {
  activate: { from: ['registered'], to: 'active' },
  suspend: { from: ['registered', 'active'], to: 'suspended' },
  resume: { from: ['suspended'], to: 'active' },
  reactivate: { from: ['deactivated'], to: 'active' },
} as const;

export const statusOperations: OperationsOf<'agent_set_status' | 'agent_deactivate'> = {
  agent_set_status: (draft, { to, ttl_seconds }, call, ctx) => {
    const by = requireAsker(call, ctx);
    const { from, to: next } = COMMANDS[to];
    if (!(from as readonly string[]).includes(draft.status)) refuse('illegal_transition', { status: draft.status, to });
    if (to === 'resume' && (draft.suspended?.depth ?? 0) < by.depth)
      refuse('not_authorized', { suspended_by: draft.suspended?.by ?? null });
    if (to === 'reactivate' && by.by !== draft.parent_entity_id) refuse('not_authorized');
    if (to === 'reactivate') draft.expires_at = endAfter(draft, ttl_seconds, ctx);
    setStatus(draft, next, { reason: 'asked', by: { id: by.by, depth: by.depth, actor: by.actor } }, ctx);
    const { status, reason, expires_at } = draft;
    return { value: { agent_id: idOf(ctx), status, reason, expires_at: timeOf(expires_at) } };
  },
  // The agent may come back within a time of grace.
  agent_deactivate: (draft, { grace_seconds }, call, ctx) => {
    const { by: id, depth, actor } = requireAsker(call, ctx);
    if (!isLegal(draft.status, 'deactivated'))
      refuse('illegal_transition', { status: draft.status, to: 'deactivated' });
    const grace = grace_seconds === undefined ? {} : { grace_ms: grace_seconds * 1_000 };
    setStatus(draft, 'deactivated', { reason: 'asked', by: { id, depth, actor }, ...grace }, ctx);
    const { status, grace_until } = draft;
    const archive_item_id = archiveIdOf(idOf(ctx), ctx.now);
    return { value: { agent_id: idOf(ctx), status, grace_until: timeOf(grace_until) ?? '', archive_item_id } };
  },
};

/** When an agent ends that comes back within its time of grace: anew where its old end has passed (SOC-37). */
function endAfter(draft: EntityState, ttl_seconds: number | undefined, ctx: EntityContext): number | null {
  if (!draft.parent_active || draft.orphaned) refuse('parent_not_active');
  const above = aboveOf(ctx).expires_at;
  const end = ttl_seconds === undefined ? draft.expires_at : endOf(ttl_seconds, above, ctx.now);
  if (ttl_seconds !== undefined && above !== undefined && (end === null || end > above))
    requireWithin({ dimension: 'ttl_seconds', asked: ttl_seconds, allowed: secondsUntil(above, ctx.now) });
  if (end !== null && end <= ctx.now) refuse('ttl_spent', { hint: 'Give ttl_seconds.' });
  return end;
}
