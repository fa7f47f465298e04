/**
 * How a swarm forms: keys, agents without a beginning, the group, and only when the rights of all stand do they begin. What
 * is refused on the way leaves no agent, no group and no swarm (SOC-14).
 */

import { pair, QUEUE, Refused, startFor } from '@reprise/org/contracts';
import { entityAt, groupAt, swarmPool } from '../../contracts/cell/names.js';
import type { News } from '../../contracts/entity-parts.js';
import { type CultureIn, GROUP_BOUNDS } from '../../contracts/group/group.js';
import type { SwarmState } from '../../contracts/swarm/swarm.js';
import { SWARM_BOUNDS } from '../../contracts/swarm/tools.js';
import { keygenPlan } from '../../plans/identity.js';
import { agentNotMade, isOfFailedCell, keyNotMade } from '../call/operations.js';
import { type Replied, tagOf } from '../call/replies.js';
import { endOf } from '../rights/agent-terms.js';
import { type AgentToMake, makeAgent, termsIn, unmakeAgent } from '../rights/register.js';
import { handedOnTo } from '../rights/rights.js';
import { changeMember, failing, membersOf, moveSwarm, type SwarmContext, slotsOf } from './context.js';
import { execute } from './strategies.js';
import { tellCreator, tellWorker, workerName } from './workers.js';

/** Begins to form: the rights of the swarm stand. */
export function form(draft: SwarmState, ctx: SwarmContext): void {
  moveSwarm(draft, 'registering', ctx);
  const limit = Math.min(draft.parallel, SWARM_BOUNDS.agents);
  ctx.send([QUEUE, swarmPool(ctx.address[1])], { name: 'flow/OpenQueue@1', value: { limit } });
  askKeys(draft, ctx);
}

/** Asks for the keys of the next members, as many at once as the swarm may. */
function askKeys(draft: SwarmState, ctx: SwarmContext): void {
  const at_once = Math.min(draft.parallel, SWARM_BOUNDS.keys);
  while (draft.members.keys < at_once && draft.members.asked < draft.members.all) {
    const key = memberAt(draft.members.asked++, ctx);
    draft.members.keys++;
    askKey(key, ctx);
  }
}

function askKey(member: string, ctx: SwarmContext): void {
  const input = { call: member, parent: ctx.address[1] };
  startFor(ctx, ctx.table('plans'), { plan: keygenPlan, input }, { kind: 'key', member });
}

/** The key of a member by its number in the order of the manifest. */
function memberAt(ordinal: number, ctx: SwarmContext): string {
  let rest = ordinal;
  for (const [slot, { count }] of slotsOf(ctx).entries()) {
    if (rest < count) return pair(slot, rest);
    rest -= count;
  }
  return ctx.reject('no_member');
}

/** Begins the name of the timer that asks for a key again. */
const KEY_TIMER = 'key.';

/** The pause before a key is asked for again that other work of the creator left no room for. */
const KEY_PAUSE_MS = 1_000;

/** The key of a member is there, or was refused. */
export function keyed(
  draft: SwarmState,
  member: string,
  { code, value: key }: Pick<News<'society/Keyed@1'>, 'code' | 'value'>,
  ctx: SwarmContext,
): void {
  if (draft.status !== 'registering') return;
  if (code === 'budget_denied/parallel') return ctx.timer(`${KEY_TIMER}${member}`, ctx.now + KEY_PAUSE_MS);
  if (key === null) return refuseSwarm(draft, keyNotMade(code), ctx);
  draft.members.keys--;
  const { agent_id, public_key, key_ref } = key;
  const { slot } = changeMember(ctx, member, { agent_id, public_key, key_ref, created_at: ctx.now });
  if (slot === draft.coordinator_slot) draft.coordinator = key.agent_id;
  ctx.table('agents').set(key.agent_id, member);
  const agent = memberOf(draft, member, key, ctx);
  changeMember(ctx, member, { expires_at: agent.expires_at });
  makeAgent(ctx, agent, { above: handedOnTo(ctx), account: draft.account, tag: member, hold: true });
  askKeys(draft, ctx);
}

/** Asks for a key again, if the timer is one of keys. */
export function keyTimer(draft: SwarmState, name: string, ctx: SwarmContext): void {
  if (name.startsWith(KEY_TIMER) && draft.status === 'registering') askKey(name.slice(KEY_TIMER.length), ctx);
}

function memberOf(
  draft: SwarmState,
  member: string,
  key: NonNullable<News<'society/Keyed@1'>['value']>,
  ctx: SwarmContext,
): AgentToMake {
  const { slot, index } = ctx.table('members').get(member) ?? ctx.reject('no_member');
  const row = slotsOf(ctx).find((one) => one.slot === slot) ?? ctx.reject('no_slot');
  const { creator, lineage, depth, app, grace_ms, group } = draft;
  const { agent_id, public_key, key_ref } = key;
  return {
    ...{ parent_entity_id: creator, lineage, depth: depth + 1, app, grace_ms, swarm_group: group },
    ...{ agent_id, public_key, key_ref, display_name: workerName({ slot, index }, ctx), ...termsIn(row) },
    expires_at: endOf(row.capabilities.ttl_seconds || undefined, draft.expires_at ?? undefined, ctx.now),
  };
}

/** The rights of a member stand, or were refused. */
export function memberMade(draft: SwarmState, member: string, code: string | undefined, ctx: SwarmContext): void {
  if (draft.status !== 'registering') return;
  if (code !== undefined) return refuseSwarm(draft, agentNotMade(code), ctx);
  changeMember(ctx, member, { phase: 'made' });
  draft.members.made++;
  if (draft.members.made < draft.members.all) return;
  const value = { kind: 'swarm', culture: cultureOf(draft) };
  ctx.send(groupAt(draft.group), { name: 'society/OpenGroup@1', value }, { reply: true, tag: tagOf('group', '') });
}

/** Above 16 members a swarm is moderate from its beginning, unless its manifest says something else (SOC-22). */
function cultureOf({ culture, members }: SwarmState): CultureIn {
  return members.all >= GROUP_BOUNDS.chatty ? { broadcast_eagerness: 'moderate', ...culture } : culture;
}

/** The group is open: all agents begin and join it. Or it was refused: it is the group of others. */
export function groupOpened(draft: SwarmState, { code }: Replied, ctx: SwarmContext): void {
  if (draft.status !== 'registering') return;
  if (code !== '') return refuseSwarm(draft, new Refused(isOfFailedCell(code) ? 'cell_failed' : 'group_exists'), ctx);
  const group = groupAt(draft.group);
  ctx.send(group, { name: 'society/Join@1', value: { entity: draft.creator, role: 'owner' } });
  const { coordinator } = draft;
  if (coordinator !== null && coordinator !== draft.creator)
    ctx.send(group, { name: 'society/Join@1', value: { entity: coordinator, role: 'member' } });
  for (const [key, { agent_id }] of membersOf(ctx)) {
    if (agent_id === null) continue;
    tellWorker(draft, key, changeMember(ctx, key, { phase: 'begun' }), ctx);
    ctx.send(entityAt(agent_id), { name: 'society/Start@1', value: {} });
    ctx.send(group, { name: 'society/Join@1', value: { entity: agent_id, role: 'member' } });
  }
}

/** An entity has joined the group, or has not. When all members have, the swarm works. */
export function joined(draft: SwarmState, entity: string, code: string | null, ctx: SwarmContext): void {
  const leads = entity === draft.coordinator && draft.coordinator_slot === null;
  if (leads && code !== null) return failing(draft, `coordinator/${code}`);
  const key = ctx.table('agents').get(entity);
  if (key === undefined || draft.status !== 'registering') return;
  if (ctx.table('members').get(key)?.phase !== 'begun') return;
  if (code !== null) draft.code = `group/${code}`.slice(0, 96);
  changeMember(ctx, key, { phase: 'joined' });
  if (++draft.members.joined === draft.members.all) execute(draft, ctx);
}

/** Whether no agent has begun yet: then all can be taken back. */
export function isUnbegun(draft: SwarmState, ctx: SwarmContext): boolean {
  if (draft.status !== 'creating' && draft.status !== 'registering') return false;
  return membersOf(ctx).every(([, { phase }]) => phase === 'keyed' || phase === 'made');
}

/** Takes everything back: nothing has begun. The creator hears why. */
export function refuseSwarm(draft: SwarmState, refused: Refused, ctx: SwarmContext): void {
  for (const [, { agent_id, phase }] of membersOf(ctx))
    if (agent_id !== null && (phase === 'made' || phase === 'keyed')) unmakeAgent(ctx, agent_id);
  ctx.cancel('all');
  ctx.send([QUEUE, swarmPool(ctx.address[1])], { name: 'flow/CloseQueue@1', value: {} });
  tellCreator(draft, refused, ctx);
  const { code, details } = refused;
  draft.code = (typeof details.cause === 'string' ? `${code}/${details.cause}` : code).slice(0, 96);
  moveSwarm(draft, 'failed', ctx);
  ctx.end();
}
