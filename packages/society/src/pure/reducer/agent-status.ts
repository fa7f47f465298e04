/** Commands of entities above that change the status of this entity. */
import type { Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import { type AgentCallOf, archiveIdOf, type EntityState } from '../contracts/index.js';
import { askedBy, exceeds } from './agent-terms.js';
import { endOf, secondsUntil } from './agent-times.js';
import { idOf } from './entity-context.js';
import { type Answer, refusal } from './operations.js';
import { aboveOf } from './rights.js';
import { setStatus } from './status.js';
import { isLegal } from './status-table.js';
import { timeOf } from './time.js';

/** What each command does to the status. */
const COMMANDS = {
  activate: { from: ['registered'], to: 'active' },
  suspend: { from: ['registered', 'active'], to: 'suspended' },
  resume: { from: ['suspended'], to: 'active' },
  reactivate: { from: ['deactivated'], to: 'active' },
} as const;

export function commandStatus(
  draft: EntityState,
  { to, ttl_seconds }: AgentCallOf<'agent_set_status'>,
  call: string,
  ctx: ReducerContext,
): Answer | undefined {
  const by = askedBy(call, ctx);
  if (by === undefined) return refusal('not_authorized');
  const { from, to: next } = COMMANDS[to];
  if (!(from as readonly string[]).includes(draft.status))
    return refusal('illegal_transition', { status: draft.status, to });
  if (to === 'resume' && (draft.suspended?.depth ?? 0) < by.depth)
    return refusal('not_authorized', { suspended_by: draft.suspended?.by ?? null });
  if (to === 'reactivate') {
    if (by.by !== draft.parent_entity_id) return refusal('not_authorized');
    const refused = reactivate(draft, ttl_seconds, ctx);
    if (refused !== undefined) return refused;
  }
  setStatus(draft, next, { reason: 'asked', by: { id: by.by, depth: by.depth, actor: by.actor } }, ctx);
  return { value: statusReport(draft, ctx) };
}

/** An agent comes back within its time of grace, with a new end where the old one has passed (SOC-37). */
function reactivate(draft: EntityState, ttl_seconds: number | undefined, ctx: ReducerContext): Answer | undefined {
  if (!draft.parent_active || draft.orphaned) return refusal('parent_not_active');
  if (ttl_seconds !== undefined) {
    const above = aboveOf(ctx).expires_at;
    const end = endOf(ttl_seconds, above, ctx.now);
    if (above !== undefined && (end === null || end > above))
      return exceeds({ dimension: 'ttl_seconds', asked: ttl_seconds, allowed: secondsUntil(above, ctx.now) });
    draft.expires_at = end;
  }
  const isSpent = draft.expires_at !== null && draft.expires_at <= ctx.now;
  return isSpent ? refusal('ttl_spent', { hint: 'Give ttl_seconds.' }) : undefined;
}

export function deactivate(
  draft: EntityState,
  { grace_seconds }: AgentCallOf<'agent_deactivate'>,
  call: string,
  ctx: ReducerContext,
): Answer | undefined {
  const by = askedBy(call, ctx);
  if (by === undefined) return refusal('not_authorized');
  if (!isLegal(draft.status, 'deactivated'))
    return refusal('illegal_transition', { status: draft.status, to: 'deactivated' });
  const grace = grace_seconds === undefined ? {} : { grace_ms: grace_seconds * 1_000 };
  setStatus(
    draft,
    'deactivated',
    { reason: 'asked', by: { id: by.by, depth: by.depth, actor: by.actor }, ...grace },
    ctx,
  );
  return { value: endReport(draft, ctx) };
}

/** The status of this agent, why it has it, and when its time ends: for good, or the time of grace. */
function statusReport(draft: EntityState, ctx: ReducerContext): Value {
  const { status, reason, expires_at } = draft;
  return { agent_id: idOf(ctx), status, reason, expires_at: timeOf(expires_at) };
}

function endReport({ status, grace_until }: EntityState, ctx: ReducerContext): Value {
  const archive_item_id = archiveIdOf(idOf(ctx), ctx.now);
  return { agent_id: idOf(ctx), status, grace_until: timeOf(grace_until) ?? '', archive_item_id };
}
