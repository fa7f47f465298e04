/**
 * The registration of an agent: its key is made or checked, then the agent, and the call is answered when its rights stand.
 * What is remembered meanwhile stands in the row of the call.
 */

import { type Capability, present, type Value } from '@reprise/contracts';
import { meet } from '@reprise/kernel/authority';
import { type CompiledRights, compileRights } from '../../compile/index.js';
import { agentIdOfKey } from '../../contracts/agent/identity.js';
import { accountOf, entityAt, SOCIETY_BOUNDS } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import { argsOf, type News, type Row, type SocietyCallOf } from '../../contracts/entity-parts.js';
import { ownKey } from '../../contracts/staging/proofs.js';
import { keygenPlan, ownKeyPlan } from '../../plans/identity.js';
import { callOfPlan, goOnWith, startForCall } from '../call/answers.js';
import { agentNotMade, keyNotMade, refuse } from '../call/operations.js';
import { timeOf } from '../call/time.js';
import { type EntityContext, idOf, lineageBelow } from '../context/entity.js';
import { inReach, refusedSubscriptions } from '../inbox/inbox.js';
import { endOf, requireWithin } from '../rights/agent-terms.js';
import { type AgentToMake, excessOf, makeAgent, sourceOf, termsIn } from '../rights/register.js';
import { compiledOf, handedOnBy } from '../rights/rights.js';

/** Registration begins with a key pair; the agent is made when it is there. */
export function register(
  draft: EntityState,
  args: SocietyCallOf<'agent_register'>,
  call: string,
  ctx: EntityContext,
): undefined {
  const { grant } = compiledOf(draft, ctx);
  requireFit(draft, agentOf(draft, args, UNKNOWN, grant, ctx), grant, ctx);
  startKey(draft, args, call, ctx);
}

/** Refuses an agent that cannot be made below this entity. @returns what its rights are compiled to */
function requireFit(
  { depth, children }: EntityState,
  agent: AgentToMake,
  above: Capability,
  ctx: EntityContext,
): CompiledRights {
  if (depth >= SOCIETY_BOUNDS.depth) refuse('depth_exceeded');
  if (children >= SOCIETY_BOUNDS.children) refuse('fanout_exceeded');
  const of = sourceOf(agent);
  const sides = compileRights(of);
  requireWithin(excessOf(of, above, ctx.now, sides));
  return sides;
}

type Registration = SocietyCallOf<'agent_register'>;

/** The key of an agent that has none yet: what it may do does not depend on its key. */
const UNKNOWN: AgentKeyed = { agent_id: '0'.repeat(64), public_key: '', key_ref: null };

/** The key is made, or it is the agent's own, which signs the id of its parent. */
function startKey(
  { reader_key: encrypt_to }: EntityState,
  { public_key, proof }: SocietyCallOf<'agent_register'>,
  call: string,
  ctx: EntityContext,
): void {
  const parent = idOf(ctx);
  if (public_key === undefined) {
    if (proof !== undefined) refuse('key_without_proof');
    return startForCall(ctx, call, keygenPlan, { call, parent, ...present({ encrypt_to }) });
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
  goOnWith(draft, call, ctx, (row) => {
    if (value === null) throw keyNotMade(code);
    return makeKeyed(draft, { call, row, key: value }, ctx);
  });
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
  const agent = agentOf(draft, args, key, above.grant, ctx);
  const sides = requireFit(draft, agent, above.grant, ctx);
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
  goOnWith(draft, call, ctx, (row) => {
    if (code !== undefined) throw agentNotMade(code);
    return { value: reportOf(draft, row, { agent_id, ...child }, ctx) };
  });
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
function subscribed(draft: EntityState, args: SocietyCallOf<'agent_register'>, key: AgentKeyed, ctx: EntityContext) {
  const { subscriptions = [] } = args;
  const above = compiledOf(draft, ctx).grant;
  const of = sourceOf(agentOf(draft, args, key, above, ctx));
  const groups = meet(compileRights(of).exercise, above).may.group; // those that it may join when it begins
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
  above: Capability,
  ctx: EntityContext,
): AgentToMake {
  const { display_name, capabilities } = args;
  const { depth, app, grace_ms } = draft;
  const place = { parent_entity_id: idOf(ctx), lineage: lineageBelow(draft, ctx), depth: depth + 1, swarm_group: null };
  const key = { agent_id, public_key, key_ref };
  const expires_at = endOf(capabilities.ttl_seconds, above.expires_at, ctx.now);
  return { ...place, app, grace_ms, ...key, ...termsIn(args), display_name, expires_at };
}

function childOf(agent: AgentToMake, ctx: EntityContext): Row<'children'> {
  const { agent_type, display_name, public_key, key_ref, expires_at } = agent;
  const ends = { expires_at, grace_until: null };
  return { agent_type, display_name, public_key, key_ref, ...ends, created_at: ctx.now, status: 'registered' };
}
