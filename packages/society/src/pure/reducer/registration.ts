import type { ReducerContext } from '@reprise/kernel/define';
import {
  type AgentCallOf,
  type AgentEntry,
  agentCalls,
  agentIdOfKey,
  type EntityState,
  entityAt,
  ownKey,
} from '../contracts/index.js';
import { ownKeyPlan } from '../plans/identity.js';
import { keygenPlan } from '../plans/keygen.js';
import { accountOf } from './accounts.js';
import { exceeds } from './agent-terms.js';
import { endOf } from './agent-times.js';
import { answerCall, openCall } from './answers.js';
import { startPlan } from './call-plans.js';
import { idOf, lineageBelow, tableOf } from './entity-context.js';
import { inReach, refusedSubscriptions } from './inbox.js';
import { type Answer, notMade, refusal } from './operations.js';
import { type AgentToMake, excessOf, groupsReached, makeAgent, noRoomFor } from './register.js';
import { handedOnBy } from './rights.js';
import { timeOf } from './time.js';
/** Registration begins with a key pair; the agent is made when it is there. */
export function register(
  draft: EntityState,
  args: AgentCallOf<'agent_register'>,
  call: string,
  ctx: ReducerContext,
): Answer | undefined {
  const full = noRoomFor(draft.depth, draft.children);
  if (full !== undefined) return refusal(full);
  const agent = agentOf(draft, args, { agent_id: NO_ID, public_key: NO_ID, key_ref: null }, ctx);
  const excess = excessOf(agent, handedOnBy(draft, ctx).grant, ctx.now);
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
  const excess = excessOf(agent, above.grant, ctx.now);
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
    return answerCall(draft, call, notMade(code, ['entity_exists', 'agent_exists']), ctx);
  }
  const args = agentCalls.agent_register.safeParse(openCall(call, ctx)?.args).data;
  const value = {
    agent_id,
    public_key: child.public_key,
    private_key_encrypted,
    ...(child.key_ref === null ? {} : { key_ref: child.key_ref }),
    status: 'registered',
    capabilities: args?.capabilities ?? {},
    expires_at: timeOf(child.expires_at),
    ...(args?.subscriptions === undefined ? {} : subscribed(draft, args, { agent_id, ...child }, ctx)),
  };
  answerCall(draft, call, { value }, ctx);
}

/** Subscribes an agent that has begun as its registration asks, and says which subscriptions are out of its reach. */
function subscribed(
  draft: EntityState,
  args: AgentCallOf<'agent_register'>,
  key: AgentKey,
  ctx: ReducerContext,
): ReturnType<typeof refusedSubscriptions> {
  const { subscriptions = [] } = args;
  const groups = groupsReached(agentOf(draft, args, key, ctx), handedOnBy(draft, ctx).grant);
  const reach = { id: key.agent_id, groups, made: () => false };
  const taken = subscriptions.filter((one) => inReach(one, reach));
  ctx.send(entityAt(key.agent_id), { name: 'society/Subscribe@1', value: { subscriptions: taken } });
  return refusedSubscriptions(subscriptions.filter((one) => !taken.includes(one)));
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
    lineage: lineageBelow(draft, ctx),
    depth: draft.depth + 1,
    public_key,
    key_ref,
    declared: capabilities,
    granted: grant ?? null,
    trust_floor,
    automerge,
    expires_at: endOf(capabilities.ttl_seconds, handedOnBy(draft, ctx).grant.expires_at, ctx.now),
    swarm_group: null,
    app: draft.app,
    grace_ms: draft.grace_ms,
  };
}

function childOf(agent: AgentToMake, ctx: ReducerContext): AgentEntry {
  const { agent_type, display_name, public_key, key_ref, expires_at } = agent;
  const ends = { expires_at, grace_until: null };
  return { agent_type, display_name, public_key, key_ref, ...ends, created_at: ctx.now, status: 'registered' };
}
