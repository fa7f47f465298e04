/**
 * `society/Swarm@1`: agents that work on one goal, with a group and a store of their own.
 *
 * Invariants
 * W1  Nothing of a swarm begins before the rights of all its agents stand; what is refused before leaves no cell (SOC-14).
 * W2  A task ends once, and is reported complete once; what comes later is recorded and changes nothing (SOC-19).
 * W3  Ends of tasks are followed at the end of the delivery, by `follow` alone.
 * W4  A swarm ends once, with its tasks and its agents; after that only its group changes.
 * W5  Who calls is known by the event's declared senders; a coordinator delegates work and no rights.
 * W6  No text enters the state: goals, tasks and results are links.
 */

import { NOTICES } from '@reprise/contracts';
import { by, defineReducer, type EventHandlers, from, fromAll, handledBy, reducerOnUse } from '@reprise/kernel/define';
import {
  key,
  makingEvents,
  makingNews,
  ownPlan,
  pair,
  REST,
  Refused,
  takePurpose,
  UNUSED,
} from '@reprise/org/contracts';
import { entityAt, SWARM } from '../../contracts/cell/names.js';
import { swarmAgent, swarmCreator, swarmGroup } from '../../contracts/cell/senders.js';
import { entityNews } from '../../contracts/entity/entity.js';
import type { SwarmRow } from '../../contracts/entity-parts.js';
import { ownerTells } from '../../contracts/group/group.js';
import { returnNews } from '../../contracts/staging/returns.js';
import { type SwarmState, swarmEvents, swarmFacts, swarmState, swarmTables } from '../../contracts/swarm/swarm.js';
import { type Routes, replyHandlers, type Unrouted } from '../call/replies.js';
import { rowKeyOf } from '../context/entity.js';
import { agentMade } from '../rights/register.js';
import { keepAbove, rightsRefused, setCompiled, tellStand } from '../rights/rights.js';
import { agentLives, askReport, failedTimer, keepRevived, tellBack } from '../status/failed-agents.js';
import { takeSwarmCall } from './calls.js';
import { answerOthers } from './collect.js';
import { coordinatorOver, failing, isOver, memberOr, membersOf, type SwarmContext } from './context.js';
import { childNewsOfSwarm, failedMemberHandlers, memberFailed, memberSilent } from './failed-members.js';
import { form, groupOpened, isUnbegun, joined, keyed, keyTimer, memberMade, refuseSwarm } from './forming.js';
import { composed, follow } from './strategies.js';
import { worked, workRefused, workUnderWay } from './tasks.js';
import { deputyOf } from './workers.js';

const EVENTS = {
  ...swarmEvents,
  ...makingEvents,
  ...fromAll(ownerTells, swarmGroup),
  'society/Keyed@1': from(entityNews['society/Keyed@1'].schema, by.ownPlan),
  'society/Compiled@1': from(entityNews['society/Compiled@1'].schema, swarmAgent),
  'society/RightsSet@1': from(entityNews['society/RightsSet@1'].schema, by.self),
  ...childNewsOfSwarm,
  'society/Removed@1': from(entityNews['society/Removed@1'].schema, swarmAgent),
  'society/Above@1': from(entityNews['society/Above@1'].schema, swarmCreator),
  'society/ParentStatus@1': from(entityNews['society/ParentStatus@1'].schema, swarmCreator),
  'society/Stage@1': from(returnNews['society/Stage@1'].schema, swarmAgent),
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'],
} as const;

type Events = typeof EVENTS;

const REPLIES: Routes<SwarmState, SwarmContext> = {
  report: memberSilent,
  group: (draft, _, reply, ctx) => groupOpened(draft, reply, ctx),
  work: workRefused,
  rights: (_draft, about, reply, ctx) => rightsRefused(about, reply, ctx),
};

const HANDLERS: EventHandlers<SwarmState, Events, typeof swarmTables> = {
  ...failedMemberHandlers,
  ...replyHandlers(REPLIES, memberNews),
  'society/OpenSwarm@1': (draft, opening, ctx) => {
    if (draft.members.all > 0) ctx.reject('swarm_exists');
    open(draft, opening, ctx);
  },
  'society/FormSwarm@1': (draft, _, ctx) => {
    if (draft.status !== 'creating') ctx.reject('not_yours');
    form(draft, ctx);
  },
  'society/SwarmCall@1': (draft, asked, ctx) => takeSwarmCall(draft, asked, ctx),
  'society/Worked@1': (draft, news, ctx, member) => worked(draft, member, news, ctx),
  'society/Composed@1': (draft, news, ctx) => {
    const purpose = takePurpose(ctx.table('plans'), ownPlan(ctx));
    if (purpose !== undefined) composed(draft, purpose, news, ctx);
  },
  'society/Keyed@1': (draft, outcome, ctx) => {
    const purpose = takePurpose(ctx.table('plans'), ownPlan(ctx));
    if (purpose?.kind === 'key') keyed(draft, purpose.member, outcome, ctx);
  },
  'society/Joined@1': (draft, { entity, code }, ctx) => joined(draft, entity, code, ctx),
  'society/MemberOver@1': (draft, { entity }) => coordinatorOver(draft, entity),
  'society/CreatorOver@1': (draft, _, ctx) => {
    if (isUnbegun(draft, ctx)) refuseSwarm(draft, new Refused('creator/deactivated'), ctx);
    else if (!isOver(draft)) failing(draft, 'creator/deactivated');
  },
  'society/Compiled@1': ({ account }, compiled, ctx) => {
    setCompiled({ agent_id: rowKeyOf(ctx), payer: account }, compiled, ctx);
  },
  'society/RightsSet@1': (_draft, { agent_id, ask }, ctx) => {
    tellStand(agent_id, { ask, code: null }, ctx);
  },
  [REST]: (draft, _, ctx) => answerOthers(draft, ctx),
  'sys/Revived@1': (draft, _, ctx) => {
    swarmRevived(draft, ctx);
    askMembers(ctx);
  },
  'society/AgentRevived@1': (draft, _, ctx, member) => {
    const { agent_id, status } = memberOr(ctx, member);
    if (agent_id === null) return ctx.reject('no_member');
    keepRevived(agent_id, status, ctx);
    agentLives(agent_id, ctx);
    tellBack(entityAt(draft.creator), agent_id, ctx);
    swarmRevived(draft, ctx);
  },
  'society/AgentBack@1': (draft, { agent_id }, ctx) => {
    agentLives(agent_id, ctx);
    tellBack(entityAt(draft.creator), agent_id, ctx);
  },
  'sys/ChildFailed@1': (draft, failed, ctx) => memberFailed(draft, failed, ctx),
  'society/Removed@1': (draft, value, ctx) => {
    ctx.send(entityAt(draft.creator), { name: 'society/Removed@1', value });
  },
  'society/Above@1': (_draft, above, ctx) => {
    keepAbove(ctx, above);
    tellMembers({ name: 'society/Above@1', value: above }, ctx);
  },
  'society/ParentStatus@1': (_draft, value, ctx) => {
    tellMembers({ name: 'society/ParentStatus@1', value }, ctx);
  },
  'society/Stage@1': (draft, value, ctx) => {
    if (ctx.rowKey !== value.agent_id) ctx.reject('not_yours');
    ctx.send(entityAt(draft.creator), { name: 'society/Stage@1', value });
  },
  'sys/TimerFired@1': (draft, { name }, ctx) => {
    if (!failedTimer(deputyOf(draft, ctx), name, ctx)) keyTimer(draft, name, ctx);
  },
  'sys/PlanFailed@1': (draft, { plan, code }, ctx) => {
    const purpose = takePurpose(ctx.table('plans'), plan[2]);
    if (purpose?.kind === 'key') keyed(draft, purpose.member, { code: code.slice(0, 96), value: null }, ctx);
    else if (purpose !== undefined) composed(draft, purpose, { text_ref: null, code: code.slice(0, 96) }, ctx);
  },
};

/** The reducer of swarms: slots, members, tasks, strategies. */
export const swarmReducer = reducerOnUse(SWARM, () =>
  defineReducer({
    name: SWARM,
    state: swarmState,
    events: EVENTS,
    facts: swarmFacts,
    tables: swarmTables,
    init: (_key, event): SwarmState => initial(event.value as Opening),
    reduce: followed(handledBy(HANDLERS)),
  }),
);

type Opening = Extract<EventOfSwarm, { readonly name: 'society/OpenSwarm@1' }>['value'];
type EventOfSwarm = Parameters<ReturnType<typeof handledBy<SwarmState, Events, typeof swarmTables>>>[1];

function followed(reduce: ReturnType<typeof handledBy<SwarmState, Events, typeof swarmTables>>): typeof reduce {
  return (draft, event, ctx) => {
    reduce(draft, event, ctx);
    follow(draft, ctx);
  };
}

function initial({ manifest, above: _, limits: __, ...opened }: Opening): SwarmState {
  const { swarm_id, group_id = swarm_id, strategy, goal_ref, culture = {}, on_member_failure = 'continue' } = manifest;
  return {
    ...{ ...opened, status: 'creating', group: group_id, strategy, goal_ref, culture, on_failure: on_member_failure },
    ...{ coordinator: null, coordinator_slot: null, synthesizer: null },
    members: { all: 0, asked: 0, keys: 0, made: 0, joined: 0 },
    ...{ slots: 0, stage: 0, tasks: { next: 1, open: 0 }, code: null, failing: false },
    ...{ synthesis_ref: null, synthesis_kind: null },
    spent: UNUSED,
    budget: { tokens: manifest.budget_tokens ?? null, micro_money: manifest.budget_micro_money ?? null },
    reserved: 0,
  };
}

/** Keeps the manifest: a row for each slot and each member. */
function open(draft: SwarmState, { manifest, above, limits }: Opening, ctx: SwarmContext): void {
  const { agents, coordinator_agent_id: coordinator, strategy } = manifest;
  keepAbove(ctx, { grant: above, limits });
  draft.slots = agents.length;
  if (typeof coordinator === 'string') draft.coordinator = coordinator;
  else if (coordinator !== undefined) draft.coordinator_slot = coordinator.slot;
  if (strategy !== 'hierarchical') draft.synthesizer = synthesizerOf(draft, agents);
  for (const [at, slot] of agents.entries()) {
    ctx.table('slots').set(key(at), slot);
    draft.members.all += slot.count;
    for (let index = 0; index < slot.count; index++) {
      ctx.table('members').set(pair(at, index), { slot: slot.slot, index, ...UNMADE });
    }
  }
}

/** A member before there is a key for it. */
const UNMADE: Omit<SwarmRow<'members'>, 'slot' | 'index'> = {
  ...{ agent_id: null, public_key: '', created_at: 0, key_ref: null, expires_at: null, grace_until: null },
  ...{ phase: 'keyed', status: 'registered', task: null, progress: 0 },
};

/** The slot that joins results: the coordinator's, or the one of that name. */
function synthesizerOf({ coordinator_slot }: SwarmState, slots: Opening['manifest']['agents']): number | null {
  const name = coordinator_slot ?? 'synthesizer';
  const at = slots.findIndex(({ slot }) => slot === name);
  return at < 0 || slots.length === 1 ? null : at;
}

function memberNews(draft: SwarmState, event: Unrouted, ctx: SwarmContext): void {
  const news = makingNews(ctx, event);
  if (news === 'other' || news === undefined) return;
  const member = agentMade(news);
  if (member !== undefined) memberMade(draft, member, news.made ? undefined : news.code, ctx);
}

function tellMembers(event: { readonly name: string; readonly value: unknown }, ctx: SwarmContext): void {
  for (const { agent_id } of begunMembers(ctx)) ctx.send(entityAt(agent_id), event);
}

/** The swarm, or an agent of it, was revived: the creator tells the swarm again what its agents are told. */
function swarmRevived({ creator }: SwarmState, ctx: SwarmContext): void {
  ctx.send(entityAt(creator), { name: 'society/SwarmRevived@1', value: {} });
}

/** Asks all agents that have begun how they stand, and with what they work on: the swarm was revived. */
function askMembers(ctx: SwarmContext): void {
  for (const { agent_id, ...member } of begunMembers(ctx)) {
    keepRevived(agent_id, member.status, ctx); // it may have been revived meanwhile
    askReport(agent_id, workUnderWay(member, ctx), ctx);
  }
}

function begunMembers(ctx: SwarmContext) {
  return membersOf(ctx).flatMap(([, { agent_id, ...member }]) =>
    agent_id === null || member.phase === 'keyed' ? [] : [{ agent_id, ...member }],
  );
}
