/** The capabilities of this entity, as entities above it see and change them (CAP-11). */

import type { Value } from '@reprise/contracts';
import { leq } from '@reprise/kernel/authority';
import { allRows } from '@reprise/kernel/define';
import {
  argsOf,
  type Capabilities,
  type CapabilityChange,
  type EntityState,
  type News,
  type SocietyCallOf,
} from '../../contracts/index.js';
import { goOnWith, openCall } from '../call/answers.js';
import { type Answer, FAILED, isOfFailedCell, refuse } from '../call/operations.js';
import { type EntityContext, idOf } from '../context/entity.js';
import { subscribeAsAsked } from '../inbox/inbox.js';
import { identifyL1 } from '../memory/hot.js';
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
  const changes =
    capabilities !== undefined ||
    grant !== undefined ||
    trust_floor !== undefined ||
    automerge !== undefined ||
    bonus_groups !== undefined;
  if (!changes) return reported(draft, args, ctx);
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
  if (!isParent && (trust_floor !== undefined || automerge !== undefined || bonus_groups !== undefined))
    refuse('not_authorized');
  const { declared, granted } = draft;
  const promised = { trust_floor: draft.trust_floor, automerge: draft.automerge, bonus_groups: draft.bonus_groups };
  const ask = changeRights(draft, ctx, () => {
    draft.declared = next.declared;
    draft.granted = next.granted;
    draft.expires_at = expires_at;
    draft.revision++;
    if (trust_floor !== undefined) draft.trust_floor = trust_floor;
    if (automerge !== undefined) draft.automerge = automerge;
    if (bonus_groups !== undefined) draft.bonus_groups = bonus_groups;
  });
  setTimers(draft, ctx);
  ctx.record('society/CapabilitiesChanged@1', { agent_id: idOf(ctx), by: by.actor });
  if (expires_at !== was) tellMaker(draft, ctx);
  if (ask === undefined) return reported(draft, args, ctx);
  draft.changing = { call, ask, declared, granted, expires_at: was, ...promised };
  return undefined;
}

/** The rights of a change that widens stand, or were refused: then the change is taken back. */
export function changeSet(draft: EntityState, { ask, code }: News<'society/RightsStand@1'>, ctx: EntityContext): void {
  const { changing } = draft;
  if (changing === null || changing.ask !== ask) return;
  draft.changing = null;
  if (code !== null) {
    changeRights(draft, ctx, () => {
      draft.declared = changing.declared;
      draft.granted = changing.granted;
      draft.expires_at = changing.expires_at;
      draft.trust_floor = changing.trust_floor;
      draft.automerge = changing.automerge;
      draft.bonus_groups = changing.bonus_groups;
    });
    setTimers(draft, ctx);
    tellMaker(draft, ctx);
  }
  identifyL1(draft, ctx);
  answerChange(draft, changing.call, code, ctx);
  takeWaiting(draft, ctx);
}

function answerChange(draft: EntityState, call: string | null, code: string | null, ctx: EntityContext): void {
  goOnWith(draft, call ?? '', ctx, (row) => {
    if (code === null) return reported(draft, argsOf(row, 'agent_capabilities'), ctx);
    if (isOfFailedCell(code)) refuse('cell_failed', { ...FAILED, of: 'maker' });
    return refuse('capability_exceeds_parent', { dimension: 'rights', cause: code });
  });
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
  const heard = subscribeAsAsked(draft, subscriptions, ctx);
  return { value: { ...report(draft, ctx), ...heard } };
}

/** What is declared, what counts, and where it is narrower than declared. */
function report(draft: EntityState, ctx: EntityContext): Readonly<Record<string, Value>> {
  const { effective, waiting, limited_by } = shownRights(draft, ctx);
  return {
    agent_id: idOf(ctx),
    declared: draft.declared as Value,
    effective: effective as Value,
    ...(waiting === undefined ? {} : { waiting: waiting as Value }),
    limited_by: limited_by as unknown as Value,
    revision: draft.revision,
  };
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
