/** The capabilities of this entity, as entities above it see and change them (CAP-11). */

import { present, type ValueMap } from '@reprise/contracts';
import { leq } from '@reprise/kernel/authority';
import { allRows } from '@reprise/kernel/define';
import type { Capabilities, CapabilityChange } from '../../contracts/agent/capability.js';
import { l1At } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import { argsOf, type News, type SocietyCallOf } from '../../contracts/entity-parts.js';
import { goOnWith, openCall } from '../call/answers.js';
import { type Answer, FAILED, isOfFailedCell, refuse } from '../call/operations.js';
import { type EntityContext, idOf } from '../context/entity.js';
import { refusedSubscriptions, subscribe } from '../inbox/inbox.js';
import { endOf, requireAsker, requireWithin } from '../rights/agent-terms.js';
import { excessIn } from '../rights/register.js';
import { aboveOf, changeRights, compiledOf } from '../rights/rights.js';
import { shownRights } from '../rights/shown.js';
import { setTimers, tellMaker } from '../status/status.js';

/** Shows the capabilities of this entity, or changes them for an entity above it (CAP-11). */
export function changeCapabilities(
  draft: EntityState,
  args: SocietyCallOf<'agent_capabilities'>,
  call: string,
  ctx: EntityContext,
): Answer | undefined {
  const { capabilities, grant, trust_floor, automerge, bonus_groups, expected_revision } = args;
  const forParent = present({ trust_floor, automerge, bonus_groups });
  const changes = present({ capabilities, grant, ...forParent });
  if (Object.keys(changes).length === 0) return reported(draft, args, ctx);
  const by = requireAsker(call, ctx);
  if (expected_revision !== undefined && expected_revision !== draft.revision)
    refuse('revision_conflict', { expected: expected_revision, actual: draft.revision });
  if (draft.changing !== null) refuse('change_under_way');
  const next = {
    declared: changedBy(draft.declared, capabilities),
    granted: grant === undefined ? draft.granted : changedBy(draft.granted ?? draft.declared, grant),
  };
  const isParent = by.by === draft.parent_entity_id;
  const was = draft.expires_at;
  const end = () => endOf(next.declared.ttl_seconds, aboveOf(ctx).expires_at, ctx.now);
  const expires_at = capabilities?.ttl_seconds === undefined ? draft.expires_at : end();
  requireLegal(draft, { ...next, expires_at }, isParent, ctx);
  if (!isParent && Object.keys(forParent).length > 0) refuse('not_authorized');
  const { declared, granted, trust_floor: floor, automerge: alone, bonus_groups: groups } = draft;
  const before = { declared, granted, expires_at: was, trust_floor: floor, automerge: alone, bonus_groups: groups };
  const ask = changeRights(draft, ctx, () => {
    Object.assign(draft, next, { expires_at, ...forParent });
    draft.revision++;
  });
  setTimers(draft, ctx);
  ctx.record('society/CapabilitiesChanged@1', { agent_id: idOf(ctx), by: by.actor });
  if (expires_at !== was) tellMaker(draft, ctx);
  if (ask === undefined) return reported(draft, args, ctx);
  draft.changing = { call, ask, ...before };
  return undefined;
}

/** The rights of a change that widens stand, or were refused: then the change is taken back. */
export function changeSet(draft: EntityState, { ask, code }: News<'society/RightsStand@1'>, ctx: EntityContext): void {
  const { changing } = draft;
  if (changing === null || changing.ask !== ask) return;
  draft.changing = null;
  if (code !== null) {
    const { call: _call, ask: _ask, ...before } = changing;
    changeRights(draft, ctx, () => void Object.assign(draft, before));
    setTimers(draft, ctx);
    tellMaker(draft, ctx);
  }
  ctx.send(l1At(idOf(ctx)), { name: 'society/IdentifyL1@1', value: { capabilities: draft.declared } });
  goOnWith(draft, changing.call ?? '', ctx, (row) => {
    if (code === null) return reported(draft, argsOf(row, 'agent_capabilities'), ctx);
    if (isOfFailedCell(code)) refuse('cell_failed', { ...FAILED, of: 'maker' });
    return refuse('capability_exceeds_parent', { dimension: 'rights', cause: code });
  });
  takeWaiting(draft, ctx);
}

/** Takes the changes that waited for the one that is over: others were refused, so all open ones of entities above wait. */
function takeWaiting(draft: EntityState, ctx: EntityContext): void {
  for (const [call, row] of [...allRows(ctx.table('calls'))]) {
    if (row.origin.kind !== 'ancestor' || row.name !== 'agent_capabilities') continue;
    const args = argsOf(row, row.name);
    goOnWith(draft, call, ctx, () => changeCapabilities(draft, args, call, ctx));
    if (openCall(call, ctx) !== undefined) return; // it waits for the maker now, and the others for it
  }
}

/** The maker did not take rights that this entity compiled: a change that waits for them is taken back. */
export function makerRefused(draft: EntityState, code: string, ctx: EntityContext): void {
  if (!isOfFailedCell(code)) return;
  draft.asking = null;
  draft.waits_for_maker = true;
  if (draft.changing !== null) changeSet(draft, { ask: draft.changing.ask, code }, ctx);
}

/** Answers a call that was done: it subscribes last, within the reach that the agent has now, and not where it was refused. */
function reported(
  draft: EntityState,
  { subscriptions }: SocietyCallOf<'agent_capabilities'>,
  ctx: EntityContext,
): Answer {
  const heard = subscriptions === undefined ? {} : refusedSubscriptions(subscribe(draft, subscriptions, ctx));
  const { declared, revision } = draft;
  const report = { agent_id: idOf(ctx), declared, ...shownRights(draft, ctx), revision };
  return { value: { ...(report as unknown as ValueMap), ...heard } };
}

/** An absent dimension keeps its value; null takes that of the parent, which is what an absent one means (CAP-8). */
function changedBy(declared: Capabilities, change: CapabilityChange = {}): Capabilities {
  const kept = Object.entries({ ...declared, ...change }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept) as Capabilities;
}

/** The direct parent changes capabilities within its own; an entity further up only narrows them. */
function requireLegal(
  draft: EntityState,
  next: Pick<EntityState, 'declared' | 'granted' | 'expires_at'>,
  isParent: boolean,
  ctx: EntityContext,
): void {
  if (isParent) return requireWithin(excessIn({ ...draft, ...next }, aboveOf(ctx), ctx));
  const before = compiledOf(draft, ctx);
  const after = compiledOf({ ...draft, ...next }, ctx);
  const narrows = leq(after.exercise, before.exercise) && leq(after.grant, before.grant);
  if (!narrows) refuse('not_authorized', { why: 'only the direct parent widens' });
}
