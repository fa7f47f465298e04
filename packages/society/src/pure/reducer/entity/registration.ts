/**
 * The registration of an agent: its key is made or checked, then the agent, and the call is answered when its rights stand.
 * What is remembered meanwhile stands in the row of the call.
 */

import type { Capability, Value } from '@reprise/contracts';
import { type CompiledRights, compileRights } from '../../compile/index.js';
import {
  accountOf,
  agentIdOfKey,
  argsOf,
  type EntityState,
  entityAt,
  type News,
  ownKey,
  type Row,
  type SocietyCallOf,
} from '../../contracts/index.js';
import { keygenPlan, ownKeyPlan } from '../../plans/identity.js';
import { callOfPlan, goOnWith, startForCall } from '../call/answers.js';
import { notMade, refuse } from '../call/operations.js';
import { timeOf } from '../call/time.js';
import { type EntityContext, idOf, placeBelow } from '../context/entity.js';
import { inReach, refusedSubscriptions } from '../inbox/inbox.js';
import { endOf, requireWithin } from '../rights/agent-terms.js';
import {
  type AgentToMake,
  excessOf,
  groupsReached,
  makeAgent,
  noRoomFor,
  sourceOf,
  termsIn,
} from '../rights/register.js';
import { compiledOf, type HandedOn, handedOnBy } from '../rights/rights.js';

/** Registration begins with a key pair; the agent is made when it is there. */
export function register(
  draft: EntityState,
  args: SocietyCallOf<'agent_register'>,
  call: string,
  ctx: EntityContext,
): undefined {
  requireFit(draft, { agent_id: UNKNOWN, args }, compiledOf(draft, ctx).grant, ctx);
  startKey(args, call, ctx);
}

/** Refuses an agent that cannot be made below this entity. @returns what its rights are compiled to */
function requireFit(
  draft: EntityState,
  { agent_id, args }: { readonly agent_id: string; readonly args: Registration },
  above: Capability,
  ctx: EntityContext,
): CompiledRights {
  const full = noRoomFor(draft.depth, draft.children);
  if (full !== undefined) refuse(full);
  const of = sourceFor(agent_id, args, above, ctx);
  const sides = compileRights(of);
  requireWithin(excessOf(of, above, ctx.now, sides));
  return sides;
}

type Registration = SocietyCallOf<'agent_register'>;

/** What the rights of an agent follow from. What is declared does not depend on its key. */
function sourceFor(agent_id: string, args: Registration, above: Capability, ctx: EntityContext) {
  const place = { agent_id, parent_entity_id: idOf(ctx), swarm_group: null };
  return sourceOf({ ...place, ...termsIn(args), expires_at: endIn(args, above, ctx) });
}

const UNKNOWN = '0'.repeat(64);

function endIn({ capabilities }: Registration, above: Capability, { now }: EntityContext): number | null {
  return endOf(capabilities.ttl_seconds, above.expires_at, now);
}

/** The key is made, or it is the agent's own, which signs the id of its parent. */
function startKey({ public_key, proof }: SocietyCallOf<'agent_register'>, call: string, ctx: EntityContext): void {
  const parent = idOf(ctx);
  if (public_key === undefined) {
    if (proof !== undefined) refuse('key_without_proof');
    return startForCall(ctx, call, keygenPlan, { call, parent });
  }
  const own = ownKey.safeParse({ public_key, proof });
  if (!own.success) return refuse('key_without_proof');
  requireNew(agentIdOfKey(public_key), ctx);
  startForCall(ctx, call, ownKeyPlan, { call, parent, ...own.data });
}

function requireNew(agent_id: string, ctx: EntityContext): void {
  if (ctx.table('children').get(agent_id) !== undefined) refuse('agent_exists');
}

/** The key of an agent that is being registered is there, or could not be made. */
export function keyed(draft: EntityState, { code, value }: News<'society/Keyed@1'>, ctx: EntityContext): void {
  const call = callOfPlan(ctx);
  goOnWith(draft, call, ctx, (row) =>
    value === null ? refuse('key_not_made', { cause: code }) : makeKeyed(draft, { call, row, key: value }, ctx),
  );
}

interface Keyed {
  readonly call: string;
  readonly row: Row<'calls'>;
  readonly key: AgentKey;
}

function makeKeyed(draft: EntityState, { call, row, key }: Keyed, ctx: EntityContext): undefined {
  const { agent_id, private_key_encrypted } = key;
  requireNew(agent_id, ctx);
  const above = handedOnBy(draft, ctx); // it may have changed since the call was taken
  const args = argsOf(row, 'agent_register');
  const sides = requireFit(draft, { agent_id, args }, above.grant, ctx);
  const agent = agentOf(draft, args, key, above, ctx);
  draft.children++;
  ctx.table('children').set(agent_id, childOf(agent, ctx));
  if (private_key_encrypted !== null) ctx.table('calls').set(call, { ...row, private_key_encrypted });
  makeAgent(ctx, agent, { above, account: accountOf(idOf(ctx)), tag: call, sides });
}

/** The rights of a registered agent stand, or were refused: the call is answered, where it still waits. */
export function registered(
  draft: EntityState,
  { call, agent_id, code }: { readonly call: string; readonly agent_id: string; readonly code: string | undefined },
  ctx: EntityContext,
): void {
  const children = ctx.table('children');
  const child = children.get(agent_id);
  if (child === undefined) return;
  if (code !== undefined) {
    draft.children--;
    children.delete(agent_id);
  }
  goOnWith(draft, call, ctx, (row) =>
    code === undefined
      ? { value: reportOf(draft, row, { agent_id, ...child }, ctx) }
      : notMade(code, ['entity_exists', 'agent_exists']),
  );
}

function reportOf(
  draft: EntityState,
  row: Row<'calls'>,
  child: AgentKeyed & Row<'children'>,
  ctx: EntityContext,
): Value {
  const { agent_id, public_key, key_ref, expires_at } = child;
  const args = argsOf(row, 'agent_register');
  return {
    ...{ agent_id, public_key, private_key_encrypted: row.private_key_encrypted },
    ...(key_ref === null ? {} : { key_ref }),
    ...{ status: 'registered', capabilities: args.capabilities, expires_at: timeOf(expires_at) },
    ...(args.subscriptions === undefined ? {} : subscribed(draft, args, child, ctx)),
  };
}

/** Subscribes an agent that has begun as its registration asks, and says which subscriptions are out of its reach. */
function subscribed(
  draft: EntityState,
  args: SocietyCallOf<'agent_register'>,
  key: AgentKeyed,
  ctx: EntityContext,
): ReturnType<typeof refusedSubscriptions> {
  const { subscriptions = [] } = args;
  const above = compiledOf(draft, ctx).grant;
  const groups = groupsReached(sourceFor(key.agent_id, args, above, ctx), above);
  const reach = { id: key.agent_id, groups, made: () => false };
  const taken = subscriptions.filter((one) => inReach(one, reach));
  ctx.send(entityAt(key.agent_id), { name: 'society/Subscribe@1', value: { subscriptions: taken } });
  return refusedSubscriptions(subscriptions.filter((one) => !taken.includes(one)));
}

type AgentKey = NonNullable<News<'society/Keyed@1'>['value']>;
type AgentKeyed = Pick<AgentKey, 'agent_id' | 'public_key' | 'key_ref'>;

function agentOf(
  draft: EntityState,
  args: Registration,
  { agent_id, public_key, key_ref }: AgentKeyed,
  { grant }: HandedOn,
  ctx: EntityContext,
): AgentToMake {
  const { display_name } = args;
  const key = { agent_id, public_key, key_ref };
  return { ...placeBelow(draft, ctx), ...key, ...termsIn(args), display_name, expires_at: endIn(args, grant, ctx) };
}

function childOf(agent: AgentToMake, ctx: EntityContext): Row<'children'> {
  const { agent_type, display_name, public_key, key_ref, expires_at } = agent;
  const ends = { expires_at, grace_until: null };
  return { agent_type, display_name, public_key, key_ref, ...ends, created_at: ctx.now, status: 'registered' };
}
