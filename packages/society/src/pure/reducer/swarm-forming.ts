/**
 * How a swarm forms: keys, agents without a beginning, the group, and only when the rights of all stand do they begin. What
 * is refused on the way leaves no agent, no group and no swarm (SOC-14).
 */
import { QUEUE } from '@reprise/flow';
import type { ReducerContext } from '@reprise/kernel/define';
import {
  type CultureIn,
  entityAt,
  GROUP_BOUNDS,
  groupAt,
  type MemberKeyed,
  type SwarmState,
} from '../contracts/index.js';
import { SWARM_BOUNDS } from '../contracts/swarm.js';
import { keygenPlan } from '../plans/keygen.js';
import { type AgentToMake, makeAgent, unmakeAgent } from './register.js';
import { handedOnTo } from './rights.js';
import { changeMember, memberKey, membersOf, moveSwarm, purposeOf, slotsOf, swarmTable } from './swarm-context.js';
import { tellCreator } from './swarm-formed.js';
import { poolOf } from './swarm-names.js';
import { execute } from './swarm-strategies.js';

/** Begins to form: the rights of the swarm stand. */
export function form(draft: SwarmState, ctx: ReducerContext): void {
  moveSwarm(draft, 'registering', ctx);
  const limit = Math.min(draft.parallel, SWARM_BOUNDS.agents);
  ctx.send([QUEUE, poolOf(ctx.address[1])], { name: 'flow/OpenQueue@1', value: { limit } });
  askKeys(draft, ctx);
}

/** Asks for the keys of the next members, as many at once as the swarm may. */
function askKeys(draft: SwarmState, ctx: ReducerContext): void {
  const at_once = Math.min(draft.parallel, SWARM_BOUNDS.keys);
  while (draft.members.keys < at_once && draft.members.asked < draft.members.all) {
    const key = memberAt(draft.members.asked++, ctx);
    draft.members.keys++;
    askKey(key, ctx);
  }
}

function askKey(member: string, ctx: ReducerContext): void {
  const plan = ctx.emit({ plan: keygenPlan, input: { call: member, parent: ctx.address[1] } });
  purposeOf(ctx, plan, { kind: 'key', member });
}

/** The key of a member by its number in the order of the manifest. */
function memberAt(ordinal: number, ctx: ReducerContext): string {
  let rest = ordinal;
  for (const [slot, { count }] of slotsOf(ctx).entries()) {
    if (rest < count) return memberKey(slot, rest);
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
  { code, key }: { readonly code: string | null; readonly key: MemberKeyed | null },
  ctx: ReducerContext,
): void {
  if (draft.status !== 'registering') return;
  if (code === 'budget_denied/parallel') return ctx.timer(`${KEY_TIMER}${member}`, ctx.now + KEY_PAUSE_MS);
  if (code !== null || key === null) return refuse(draft, code ?? 'key_not_made', ctx);
  draft.members.keys--;
  const { slot } = changeMember(ctx, member, { agent_id: key.agent_id, key_ref: key.key_ref });
  if (slot === draft.coordinator_slot) draft.coordinator = key.agent_id;
  swarmTable(ctx, 'agents').set(key.agent_id, member);
  const agent = memberOf(draft, member, key, ctx);
  changeMember(ctx, member, { expires_at: agent.expires_at });
  makeAgent(ctx, agent, {
    ...{ above: handedOnTo(ctx), account: draft.account, tag: member },
    hold: true,
  });
  askKeys(draft, ctx);
}

/** Asks for a key again, if the timer is one of keys. */
export function keyTimer(draft: SwarmState, name: string, ctx: ReducerContext): void {
  if (name.startsWith(KEY_TIMER) && draft.status === 'registering') askKey(name.slice(KEY_TIMER.length), ctx);
}

function memberOf(draft: SwarmState, member: string, key: MemberKeyed, ctx: ReducerContext): AgentToMake {
  const { slot, index } = swarmTable(ctx, 'members').get(member) ?? ctx.reject('no_member');
  const row = slotsOf(ctx).find((one) => one.slot === slot) ?? ctx.reject('no_slot');
  const { ttl_seconds } = row.capabilities;
  const end = ttl_seconds === undefined || ttl_seconds === 0 ? draft.expires_at : ctx.now + ttl_seconds * 1_000;
  return {
    ...{ agent_id: key.agent_id, public_key: key.public_key, key_ref: key.key_ref },
    agent_type: row.agent_type,
    display_name: `${slot} ${index} of ${ctx.address[1]}`.slice(0, 120),
    parent_entity_id: draft.creator,
    lineage: draft.lineage,
    depth: draft.depth + 1,
    declared: row.capabilities,
    granted: null,
    trust_floor: 'untrusted',
    automerge: false,
    expires_at: end,
    swarm_group: draft.group,
    app: draft.app,
    grace_ms: draft.grace_ms,
  };
}

/** The rights of a member stand, or were refused. */
export function memberMade(draft: SwarmState, member: string, code: string | undefined, ctx: ReducerContext): void {
  if (draft.status !== 'registering') return;
  if (code !== undefined) return refuse(draft, 'capability_exceeds_parent', ctx);
  changeMember(ctx, member, { phase: 'made' });
  draft.members.made++;
  if (draft.members.made < draft.members.all) return;
  const value = { kind: 'swarm', culture: cultureOf(draft) };
  ctx.send(groupAt(draft.group), { name: 'society/OpenGroup@1', value }, { reply: true, tag: GROUP_TAG });
}

/** Above 16 members a swarm is moderate from its beginning, unless its manifest says something else (SOC-22). */
function cultureOf({ culture, members }: SwarmState): CultureIn {
  return members.all >= GROUP_BOUNDS.chatty ? { broadcast_eagerness: 'moderate', ...culture } : culture;
}

/** The tag of the opening of the group. */
export const GROUP_TAG = 'group';

/** The group is open: all agents begin and join it. Or it was refused: it is the group of others. */
export function groupOpened(draft: SwarmState, code: string | null, ctx: ReducerContext): void {
  if (draft.status !== 'registering') return;
  if (code !== null) return refuse(draft, 'group_exists', ctx);
  const group = groupAt(draft.group);
  ctx.send(group, { name: 'society/Join@1', value: { entity: draft.creator, role: 'owner' } });
  const { coordinator } = draft;
  if (coordinator !== null && coordinator !== draft.creator)
    ctx.send(group, { name: 'society/Join@1', value: { entity: coordinator, role: 'member' } });
  for (const [key, { agent_id }] of membersOf(ctx)) {
    if (agent_id === null) continue;
    changeMember(ctx, key, { phase: 'begun' });
    ctx.send(entityAt(agent_id), { name: 'society/Start@1', value: {} });
    ctx.send(group, { name: 'society/Join@1', value: { entity: agent_id, role: 'member' } });
  }
}

/** An entity has joined the group, or has not. When all members have, the swarm works. */
export function joined(draft: SwarmState, entity: string, code: string | null, ctx: ReducerContext): void {
  const key = swarmTable(ctx, 'agents').get(entity);
  if (key === undefined || draft.status !== 'registering') return;
  if (swarmTable(ctx, 'members').get(key)?.phase !== 'begun') return;
  if (code !== null) draft.code = `group/${code}`.slice(0, 96);
  changeMember(ctx, key, { phase: 'joined' });
  if (++draft.members.joined === draft.members.all) execute(draft, ctx);
}

/** Whether no agent has begun yet: then all can be taken back. */
export function isUnbegun(draft: SwarmState, ctx: ReducerContext): boolean {
  if (draft.status !== 'creating' && draft.status !== 'registering') return false;
  return membersOf(ctx).every(([, { phase }]) => phase === 'keyed' || phase === 'made');
}

/** Takes everything back: nothing has begun. The creator hears why. */
export function refuse(draft: SwarmState, code: string, ctx: ReducerContext): void {
  for (const [, { agent_id, phase }] of membersOf(ctx))
    if (agent_id !== null && (phase === 'made' || phase === 'keyed')) unmakeAgent(ctx, agent_id);
  ctx.cancel('all');
  ctx.send([QUEUE, poolOf(ctx.address[1])], { name: 'flow/CloseQueue@1', value: {} });
  tellCreator(draft, code, ctx);
  draft.code = code.slice(0, 96);
  moveSwarm(draft, 'failed', ctx);
  ctx.end();
}
