/** The capabilities of this entity, as entities above it see and change them (CAP-11). */
import type { Value } from '@reprise/contracts';
import { leq } from '@reprise/kernel/authority';
import type { ReducerContext } from '@reprise/kernel/define';
import {
  type AgentCallOf,
  agentCalls,
  type Capabilities,
  type CapabilityChange,
  type EntityState,
} from '../contracts/index.js';
import { askedBy, exceeds } from './agent-terms.js';
import { endOf } from './agent-times.js';
import { answerCall, openCall } from './answers.js';
import { idOf, tableOf } from './entity-context.js';
import { identifyL1 } from './hot.js';
import { subscribeAsAsked } from './inbox.js';
import { type Answer, isOfFailedCell, refusal } from './operations.js';
import { excessIn } from './register.js';
import { aboveOf, changeRights, compiledOf } from './rights.js';
import { shownRights } from './shown-rights.js';
import { setTimers, tellMaker } from './status.js';
import { entriesOf } from './table-rows.js';

/** Shows the capabilities of this entity, or changes them for an entity above it (CAP-11). */
export function changeCapabilities(
  draft: EntityState,
  args: AgentCallOf<'agent_capabilities'>,
  call: string,
  ctx: ReducerContext,
): Answer | undefined {
  const { capabilities, grant, trust_floor, automerge, bonus_groups, expected_revision } = args;
  const by = askedBy(call, ctx);
  const changes =
    capabilities !== undefined ||
    grant !== undefined ||
    trust_floor !== undefined ||
    automerge !== undefined ||
    bonus_groups !== undefined;
  if (!changes) return reported(draft, args, ctx);
  if (by === undefined) return refusal('not_authorized');
  if (expected_revision !== undefined && expected_revision !== draft.revision)
    return refusal('revision_conflict', { expected: expected_revision, actual: draft.revision });
  if (draft.changing !== null) return refusal('change_under_way');
  const next = {
    declared: changedBy(draft.declared, capabilities),
    granted: grant === undefined ? draft.granted : changedBy(draft.granted ?? draft.declared, grant),
  };
  const isParent = by.by === draft.parent_entity_id;
  const was = draft.expires_at;
  const end = () => endOf(next.declared.ttl_seconds, aboveOf(ctx).expires_at, ctx.now);
  const expires_at = capabilities?.ttl_seconds === undefined ? draft.expires_at : end();
  const refused = refusedChange(draft, { ...next, expires_at }, isParent, ctx);
  if (refused !== undefined) return refused;
  if (!isParent && (trust_floor !== undefined || automerge !== undefined || bonus_groups !== undefined))
    return refusal('not_authorized');
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
export function changeSet(
  draft: EntityState,
  { ask, code }: { readonly ask: number; readonly code: string | null },
  ctx: ReducerContext,
): void {
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

function answerChange(draft: EntityState, call: string | null, code: string | null, ctx: ReducerContext): void {
  const row = call === null ? undefined : openCall(call, ctx);
  if (call === null || row === undefined) return;
  const args = agentCalls.agent_capabilities.parse(row.args);
  answerCall(draft, call, code === null ? reported(draft, args, ctx) : notSet(code), ctx);
}

/** Takes the changes that waited for the one that is over: others were refused, so all open ones of entities above wait. */
function takeWaiting(draft: EntityState, ctx: ReducerContext): void {
  for (const [call, { origin, name, args }] of entriesOf(tableOf(ctx, 'calls'))) {
    if (origin.kind !== 'ancestor' || name !== 'agent_capabilities') continue;
    const answer = changeCapabilities(draft, agentCalls.agent_capabilities.parse(args), call, ctx);
    if (answer === undefined) return; // it waits for the maker now, and the others for it
    answerCall(draft, call, answer, ctx);
  }
}

function notSet(code: string): Answer {
  if (isOfFailedCell(code)) return refusal('cell_failed', { cell: 'failed', of: 'maker' });
  return refusal('capability_exceeds_parent', { dimension: 'rights', cause: code });
}

/** The maker did not take rights that this entity compiled: a change that waits for them is taken back. */
export function makerRefused(draft: EntityState, code: string, ctx: ReducerContext): void {
  if (!isOfFailedCell(code)) return;
  draft.asking = null;
  draft.waits_for_maker = true;
  if (draft.changing !== null) changeSet(draft, { ask: draft.changing.ask, code }, ctx);
}

/** Answers a call that was done: it subscribes last, within the reach that the agent has now, and not where it was refused. */
function reported(
  draft: EntityState,
  { subscriptions }: AgentCallOf<'agent_capabilities'>,
  ctx: ReducerContext,
): Answer {
  const heard = subscribeAsAsked(draft, subscriptions, ctx);
  return { value: { ...report(draft, ctx), ...heard } };
}

/** What is declared, what counts, and where it is narrower than declared. */
function report(draft: EntityState, ctx: ReducerContext): Readonly<Record<string, Value>> {
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
function refusedChange(
  draft: EntityState,
  next: Pick<EntityState, 'declared' | 'granted' | 'expires_at'>,
  isParent: boolean,
  ctx: ReducerContext,
): Answer | undefined {
  if (isParent) {
    const excess = excessIn({ ...draft, ...next }, aboveOf(ctx), ctx);
    return excess === undefined ? undefined : exceeds(excess);
  }
  const before = compiledOf(draft, ctx);
  const after = compiledOf({ ...draft, ...next }, ctx);
  const narrows = leq(after.exercise, before.exercise) && leq(after.grant, before.grant);
  return narrows ? undefined : refusal('not_authorized', { why: 'only the direct parent widens' });
}
