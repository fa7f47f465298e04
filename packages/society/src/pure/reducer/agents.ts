/** The tools about agents: register, list, change capabilities, change status, deactivate. */
import type { Value } from '@reprise/contracts';
import { leq } from '@reprise/kernel/authority';
import type { ReducerContext } from '@reprise/kernel/define';
import {
  type AgentCallOf,
  agentCalls,
  agentIdOfKey,
  type CallOrigin,
  type Capabilities,
  type CapabilityChange,
  type ChildRow,
  type EntityState,
  entityAt,
  ownKey,
} from '../contracts/index.js';
import { ownKeyPlan } from '../plans/identity.js';
import { keygenPlan } from '../plans/keygen.js';
import { accountOf } from './accounts.js';
import { answerCall, openCall } from './answers.js';
import { archiveId } from './archive.js';
import { startPlan } from './calls.js';
import { idOf, tableOf } from './entity-context.js';
import { identifyL1 } from './hot.js';
import { subscribeAsAsked } from './inbox.js';
import { type Answer, type Operations, operation, refusal } from './operations.js';
import { type AgentToMake, excessIn, excessOf, makeAgent, noRoomFor, type TooMuch } from './register.js';
import { aboveOf, changeRights, compiledOf, handedOnBy } from './rights.js';
import { shownRights } from './shown-rights.js';
import { isLegal, setStatus, setTimers } from './status.js';
import { timeOf } from './time.js';

/** The operations of the tools about agents. */
export const agentOperations: Operations = {
  agent_register: operation(agentCalls.agent_register, {
    about: ({ parent_entity_id }) => parent_entity_id,
    run: (draft, args, call, ctx) => register(draft, args, call, ctx),
  }),
  agent_list: operation(agentCalls.agent_list, {
    about: ({ entity_id }) => entity_id,
    run: (_draft, args, _call, ctx) => listAgents(args, ctx),
  }),
  agent_capabilities: operation(agentCalls.agent_capabilities, {
    about: ({ agent_id }) => agent_id,
    run: (draft, args, call, ctx) => changeCapabilities(draft, args, call, ctx),
  }),
  agent_set_status: operation(agentCalls.agent_set_status, {
    about: ({ agent_id }) => agent_id,
    run: (draft, args, call, ctx) => commandStatus(draft, args, call, ctx),
  }),
  agent_deactivate: operation(agentCalls.agent_deactivate, {
    about: ({ agent_id }) => agent_id,
    run: (draft, args, call, ctx) => deactivate(draft, args, call, ctx),
  }),
};

/** Registration begins with a key pair; the agent is made when it is there. */
function register(
  draft: EntityState,
  args: AgentCallOf<'agent_register'>,
  call: string,
  ctx: ReducerContext,
): Answer | undefined {
  const full = noRoomFor(draft.depth, draft.children);
  if (full !== undefined) return refusal(full);
  const agent = agentOf(draft, args, { agent_id: NO_ID, public_key: NO_ID, key_ref: null }, ctx);
  const excess = excessOf(agent, handedOnBy(draft, ctx).grant);
  if (excess !== undefined) return exceeds(excess);
  return startKey(args, call, ctx);
}

/** The key is made, or it is the agent's own, which signs the id of its parent. */
function startKey(
  { public_key, proof }: AgentCallOf<'agent_register'>,
  call: string,
  ctx: ReducerContext,
): Answer | undefined {
  const parent = idOf(ctx);
  if (public_key === undefined) {
    if (proof !== undefined) return refusal('key_without_proof');
    startPlan(ctx, call, keygenPlan, { call, parent });
    return undefined;
  }
  const own = ownKey.safeParse({ public_key, proof });
  if (!own.success) return refusal('key_without_proof');
  if (tableOf(ctx, 'children').get(agentIdOfKey(public_key)) !== undefined) return refusal('agent_exists');
  startPlan(ctx, call, ownKeyPlan, { call, parent, ...own.data });
  return undefined;
}

/** An id that is known later: what is declared does not depend on it. */
const NO_ID = '0'.repeat(64);

/** The key of an agent. */
export interface AgentKey {
  readonly agent_id: string;
  readonly public_key: string;
  readonly key_ref: string | null;
}

/** The key of an agent that is being registered is there: the agent is made. */
export function keyed(
  draft: EntityState,
  call: string,
  key: AgentKey & { readonly private_key_encrypted: string | null },
  ctx: ReducerContext,
): void {
  const row = openCall(call, ctx);
  if (row === undefined) return;
  if (tableOf(ctx, 'children').get(key.agent_id) !== undefined)
    return answerCall(draft, call, refusal('agent_exists'), ctx);
  const args = agentCalls.agent_register.parse(row.args);
  const full = noRoomFor(draft.depth, draft.children);
  if (full !== undefined) return answerCall(draft, call, refusal(full), ctx);
  const agent = agentOf(draft, args, key, ctx);
  const above = handedOnBy(draft, ctx);
  const excess = excessOf(agent, above.grant);
  if (excess !== undefined) return answerCall(draft, call, exceeds(excess), ctx);
  draft.children++;
  tableOf(ctx, 'children').set(agent.agent_id, childOf(agent, ctx));
  tableOf(ctx, 'registering').set(agent.agent_id, { call, private_key_encrypted: key.private_key_encrypted });
  makeAgent(ctx, agent, { above, account: accountOf(idOf(ctx)), tag: agent.agent_id });
}

/** The rights of a registered agent stand, or were refused. */
export function registered(draft: EntityState, agent_id: string, code: string | undefined, ctx: ReducerContext): void {
  const row = tableOf(ctx, 'registering').get(agent_id);
  const child = tableOf(ctx, 'children').get(agent_id);
  if (row === undefined || child === undefined) return;
  tableOf(ctx, 'registering').delete(agent_id);
  const { call, private_key_encrypted } = row;
  if (code !== undefined) {
    draft.children--;
    tableOf(ctx, 'children').delete(agent_id);
    return answerCall(draft, call, refusal('capability_exceeds_parent', { dimension: 'rights', cause: code }), ctx);
  }
  const args = agentCalls.agent_register.safeParse(openCall(call, ctx)?.args).data;
  const { subscriptions } = args ?? {};
  if (subscriptions !== undefined)
    ctx.send(entityAt(agent_id), { name: 'society/Subscribe@1', value: { subscriptions } });
  const value = {
    agent_id,
    public_key: child.public_key,
    private_key_encrypted,
    ...(child.key_ref === null ? {} : { key_ref: child.key_ref }),
    status: 'registered',
    capabilities: args?.capabilities ?? {},
    expires_at: timeOf(child.expires_at),
  };
  answerCall(draft, call, { value }, ctx);
}

/** An agent as it is recorded. */
function agentOf(
  draft: EntityState,
  {
    agent_type,
    display_name,
    capabilities,
    grant,
    trust_floor = 'untrusted',
    automerge = false,
  }: AgentCallOf<'agent_register'>,
  { agent_id, public_key, key_ref }: AgentKey,
  ctx: ReducerContext,
): AgentToMake {
  return {
    agent_id,
    agent_type,
    display_name,
    parent_entity_id: idOf(ctx),
    depth: draft.depth + 1,
    public_key,
    key_ref,
    declared: capabilities,
    granted: grant ?? null,
    trust_floor,
    automerge,
    expires_at: endOf(capabilities, draft, ctx),
    swarm_group: null,
    app: draft.app,
  };
}

/** The end of an agent's time: as it is declared, else that of its parent. 0 is no end. */
function endOf({ ttl_seconds }: Capabilities, draft: EntityState, ctx: ReducerContext): number | null {
  if (ttl_seconds === undefined) return draft.expires_at;
  return ttl_seconds === 0 ? null : ctx.now + ttl_seconds * 1_000;
}

function childOf(agent: AgentToMake, ctx: ReducerContext): ChildRow {
  const { agent_type, display_name, public_key, key_ref, expires_at } = agent;
  return { agent_type, display_name, public_key, key_ref, expires_at, created_at: ctx.now, status: 'registered' };
}

function exceeds({ dimension, asked, allowed }: TooMuch): Answer {
  return refusal('capability_exceeds_parent', { dimension, asked: asked as Value, allowed: allowed as Value });
}

/** The bytes of a page of agents: an answer to a model has at most 4 KiB. */
const PAGE_ROWS = 8;
const LIST_ROWS = 100;

function listAgents(
  { status, agent_type, after, limit = LIST_ROWS }: AgentCallOf<'agent_list'>,
  ctx: ReducerContext,
): Answer {
  const found: Value[] = [];
  const max = Math.min(limit, PAGE_ROWS);
  let last = after;
  for (;;) {
    const rows = tableOf(ctx, 'children').range({ ...(last === undefined ? {} : { after: last }), limit: 256 });
    for (const [id, row] of rows) {
      if (found.length === max) return { value: { agents: found, next: last ?? '' } };
      last = id;
      const fits =
        (status === undefined || status.includes(row.status)) && (agent_type ?? row.agent_type) === row.agent_type;
      if (fits) found.push(agentRow(id, row, idOf(ctx)));
    }
    if (rows.length < 256) return { value: { agents: found } };
  }
}

/** An agent in a list. */
function agentRow(agent_id: string, row: ChildRow, parent_entity_id: string): Value {
  const { agent_type, display_name, created_at, public_key, status, expires_at } = row;
  return {
    agent_id,
    parent_entity_id,
    agent_type,
    display_name,
    created_at: timeOf(created_at) ?? '',
    public_key,
    status,
    expires_at: timeOf(expires_at),
  };
}

/** The caller of an operation that an entity above asked for. */
function askedBy(call: string, ctx: ReducerContext): Extract<CallOrigin, { kind: 'ancestor' }> | undefined {
  const origin = openCall(call, ctx)?.origin;
  return origin?.kind === 'ancestor' ? origin : undefined;
}

/** Shows the capabilities of this entity, or changes them for an entity above it (CAP-11). */
function changeCapabilities(
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
  const heard = subscribeAsAsked(draft, args.subscriptions, ctx);
  if (!changes) return { value: { ...report(draft, ctx), ...heard } };
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
  const expires_at = capabilities?.ttl_seconds === undefined ? draft.expires_at : endOf(next.declared, draft, ctx);
  const refused = refusedChange(draft, { ...next, expires_at }, isParent, ctx);
  if (refused !== undefined) return refused;
  if (!isParent && (trust_floor !== undefined || automerge !== undefined || bonus_groups !== undefined))
    return refusal('not_authorized');
  const { declared, granted, revision } = draft;
  const asks = changeRights(draft, ctx, () => {
    draft.declared = next.declared;
    draft.granted = next.granted;
    draft.expires_at = expires_at;
    draft.revision++;
    if (trust_floor !== undefined) draft.trust_floor = trust_floor;
    if (automerge !== undefined) draft.automerge = automerge;
    if (bonus_groups !== undefined) draft.bonus_groups = bonus_groups;
  });
  setTimers(draft, ctx);
  if (!asks) return { value: { ...report(draft, ctx), ...heard } };
  draft.changing = { call, revision: revision + 1, declared, granted, expires_at: was };
  return undefined;
}

/** The rights of a change that widens stand, or were refused: then the change is taken back. */
export function changeSet(draft: EntityState, revision: number, code: string | null, ctx: ReducerContext): void {
  const { changing } = draft;
  if (changing === null || changing.revision !== revision) return;
  draft.changing = null;
  if (code !== null) {
    changeRights(draft, ctx, () => {
      draft.declared = changing.declared;
      draft.granted = changing.granted;
      draft.expires_at = changing.expires_at;
    });
    setTimers(draft, ctx);
  }
  identifyL1(draft, ctx);
  if (changing.call === null) return;
  const answer: Answer =
    code === null
      ? { value: report(draft, ctx) }
      : refusal('capability_exceeds_parent', { dimension: 'rights', cause: code });
  answerCall(draft, changing.call, answer, ctx);
}

/** What is declared, what counts, and where it is narrower than declared. */
function report(draft: EntityState, ctx: ReducerContext): Readonly<Record<string, Value>> {
  const { effective, limited_by } = shownRights(draft, ctx);
  return {
    agent_id: idOf(ctx),
    declared: draft.declared as Value,
    effective: effective as Value,
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
    const excess = excessIn({ ...draft, ...next }, aboveOf(ctx), idOf(ctx));
    return excess === undefined ? undefined : exceeds(excess);
  }
  const before = compiledOf(draft, ctx);
  const after = compiledOf({ ...draft, ...next }, ctx);
  const narrows = leq(after.exercise, before.exercise) && leq(after.grant, before.grant);
  return narrows ? undefined : refusal('not_authorized', { why: 'only the direct parent widens' });
}

/** What each command does to the status. */
const COMMANDS = {
  activate: { from: ['registered'], to: 'active' },
  suspend: { from: ['active'], to: 'suspended' },
  resume: { from: ['suspended'], to: 'active' },
  reactivate: { from: ['deactivated'], to: 'active' },
} as const;

function commandStatus(
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
  setStatus(draft, next, { reason: 'asked', by: { id: by.by, depth: by.depth } }, ctx);
  return { value: statusReport(draft, ctx) };
}

/** An agent comes back within its time of grace, with a new end where the old one has passed (SOC-42). */
function reactivate(draft: EntityState, ttl_seconds: number | undefined, ctx: ReducerContext): Answer | undefined {
  if (!draft.parent_active) return refusal('parent_not_active');
  if (ttl_seconds !== undefined) {
    const end = ttl_seconds === 0 ? null : ctx.now + ttl_seconds * 1_000;
    const above = aboveOf(ctx).expires_at;
    if (above !== undefined && (end === null || end > above))
      return refusal('capability_exceeds_parent', { dimension: 'ttl_seconds', asked: ttl_seconds, allowed: above });
    draft.expires_at = end;
  }
  const isSpent = draft.expires_at !== null && draft.expires_at <= ctx.now;
  return isSpent ? refusal('ttl_spent', { hint: 'Give ttl_seconds.' }) : undefined;
}

function deactivate(
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
  setStatus(draft, 'deactivated', { reason: 'asked', by: { id: by.by, depth: by.depth }, ...grace }, ctx);
  return { value: statusReport(draft, ctx) };
}

function statusReport(draft: EntityState, ctx: ReducerContext): Value {
  const { status, grace_until } = draft;
  return {
    agent_id: idOf(ctx),
    status,
    ...(status === 'deactivated'
      ? { grace_until: timeOf(grace_until) ?? '', archive_item_id: archiveId(idOf(ctx), ctx.now) }
      : {}),
  };
}
