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
import { NOTICES, present } from '@reprise/contracts';
import {
  by,
  defineReducer,
  type EventHandlers,
  from,
  fromAll,
  handledBy,
  type ReducerContext,
  reducerOnUse,
} from '@reprise/kernel/define';
import { makingEvents, makingNews } from '@reprise/work/contracts';
import {
  entityAt,
  entityNews,
  type MemberKeyed,
  ownerTells,
  returnNews,
  SWARM,
  type SwarmState,
  swarmEvents,
  swarmFacts,
  swarmState,
  swarmTables,
} from '../contracts/index.js';
import { swarmAgent, swarmCreator, swarmGroup } from '../contracts/senders.js';
import { planOf } from './caller.js';
import { passRemoved } from './entity-context.js';
import { agentLives, failedTimer, tellBack } from './failed-agents.js';
import { failedMemberHandlers, memberFailed, memberSilent, memberStatus } from './failed-members.js';
import { agentMade } from './register.js';
import { keepRevived, REPORT_TAG, swarmRevived } from './revived.js';
import { keepAbove, refusedRights } from './rights.js';
import { takeSwarmCall } from './swarm-calls.js';
import {
  coordinatorOver,
  failing,
  isOver,
  memberKey,
  memberOr,
  membersOf,
  swarmTable,
  takePurpose,
} from './swarm-context.js';
import { deputyOf } from './swarm-deputy.js';
import {
  form,
  GROUP_TAG,
  groupOpened,
  isUnbegun,
  joined,
  keyed,
  keyTimer,
  memberMade,
  refuse,
} from './swarm-forming.js';
import { setMemberRights, tellRights } from './swarm-rights.js';
import { composed, follow } from './swarm-strategies.js';
import { WORK_TAG, worked, workRefused, workUnderWay } from './swarm-tasks.js';

const EVENTS = {
  ...swarmEvents,
  ...makingEvents,
  ...fromAll(ownerTells, swarmGroup),
  'society/Keyed@1': from(entityNews['society/Keyed@1'].schema, by.ownPlan),
  'society/Compiled@1': from(entityNews['society/Compiled@1'].schema, swarmAgent),
  'society/RightsSet@1': from(entityNews['society/RightsSet@1'].schema, by.self),
  'society/ChildStatus@1': from(entityNews['society/ChildStatus@1'].schema, swarmAgent),
  'society/Removed@1': from(entityNews['society/Removed@1'].schema, swarmAgent),
  'society/Above@1': from(entityNews['society/Above@1'].schema, swarmCreator),
  'society/ParentStatus@1': from(entityNews['society/ParentStatus@1'].schema, swarmCreator),
  'society/Stage@1': from(returnNews['society/Stage@1'].schema, swarmAgent),
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'],
} as const;

type Events = typeof EVENTS;

const HANDLERS: EventHandlers<SwarmState, Events, typeof swarmTables> = {
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
    const purpose = takePurpose(ctx, planOf(ctx));
    if (purpose !== undefined) composed(draft, purpose, news, ctx);
  },
  'society/Keyed@1': (draft, { code, value }, ctx) => {
    const purpose = takePurpose(ctx, planOf(ctx));
    if (purpose?.kind !== 'key') return;
    keyed(draft, purpose.member, { code, key: value as unknown as MemberKeyed | null }, ctx);
  },
  'society/Joined@1': (draft, { entity, code }, ctx) => joined(draft, entity, code, ctx),
  'society/MemberOver@1': (draft, { entity }) => coordinatorOver(draft, entity),
  'society/CreatorOver@1': (draft, _, ctx) => {
    if (isUnbegun(draft, ctx)) refuse(draft, 'creator/deactivated', ctx);
    else if (!isOver(draft)) failing(draft, 'creator/deactivated');
  },
  'society/Compiled@1': (draft, compiled, ctx) => setMemberRights(draft, compiled, ctx),
  'society/RightsSet@1': (_draft, { agent_id, ask }, ctx) => {
    tellRights(agent_id, { ask, code: null }, ctx);
  },
  'society/ChildStatus@1': (draft, told, ctx, member) => memberStatus(draft, told, member, ctx),
  ...failedMemberHandlers,
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
  'society/Removed@1': (draft, removed, ctx) => {
    passRemoved(entityAt(draft.creator), removed, ctx);
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
    const purpose = takePurpose(ctx, plan[2]);
    if (purpose?.kind === 'key') keyed(draft, purpose.member, { code: code.slice(0, 96), key: null }, ctx);
    else if (purpose !== undefined) composed(draft, purpose, { text_ref: null, code: code.slice(0, 96) }, ctx);
  },
  'sys/Reply@1': (draft, value, ctx) => {
    const { tag = '', outcome, code = '' } = value;
    const refused = outcome === 'accepted' ? null : code;
    if (tag.startsWith(REPORT_TAG)) return memberSilent(draft, tag.slice(REPORT_TAG.length), code, ctx);
    if (tag === GROUP_TAG) return groupOpened(draft, refused, ctx);
    if (tag.startsWith(WORK_TAG)) return refused === null ? undefined : workRefused(draft, tag, refused, ctx);
    memberNews(draft, { name: 'sys/Reply@1', value }, ctx);
  },
  'sys/CommandRefused@1': (draft, value, ctx) => {
    const refused = refusedRights(value.tag);
    if (refused !== undefined) return tellRights(refused.agent_id, { ask: refused.ask, code: value.code }, ctx);
    memberNews(draft, { name: 'sys/CommandRefused@1', value }, ctx);
  },
  'work/RightsStand@1': (draft, value, ctx) => memberNews(draft, { name: 'work/RightsStand@1', value }, ctx),
};

/** The reducer of swarms. */
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

/** Follows the ends of tasks after each delivery. */
function followed(reduce: ReturnType<typeof handledBy<SwarmState, Events, typeof swarmTables>>): typeof reduce {
  return (draft, event, ctx) => {
    reduce(draft, event, ctx);
    follow(draft, ctx);
  };
}

function initial({
  creator,
  lineage,
  depth,
  call,
  manifest,
  parallel,
  account,
  expires_at,
  app,
  grace_ms,
}: Opening): SwarmState {
  const { swarm_id, group_id = swarm_id, strategy, goal_ref, culture = {}, on_member_failure = 'continue' } = manifest;
  return {
    ...{ status: 'creating', creator, lineage, depth, call, group: group_id, strategy, goal_ref, culture },
    ...{ on_failure: on_member_failure, parallel, account, expires_at, app, grace_ms },
    ...{ coordinator: null, coordinator_slot: null, synthesizer: null },
    members: { all: 0, asked: 0, keys: 0, made: 0, joined: 0 },
    ...{ slots: 0, stage: 0, tasks: { next: 1, open: 0 }, code: null, failing: false },
    ...{ synthesis_ref: null, synthesis_kind: null },
    spent: { steps: 0, tokens_in: 0, tokens_out: 0, micro_money: 0 },
    budget: { tokens: manifest.budget_tokens ?? null, micro_money: manifest.budget_micro_money ?? null },
    reserved: 0,
  };
}

/** Keeps the manifest: a row for each slot and each member. */
function open(draft: SwarmState, { manifest, above, limits }: Opening, ctx: ReducerContext): void {
  const { agents, coordinator_agent_id: coordinator, strategy } = manifest;
  keepAbove(ctx, { grant: above, limits });
  draft.slots = agents.length;
  if (typeof coordinator === 'string') draft.coordinator = coordinator;
  else if (coordinator !== undefined) draft.coordinator_slot = coordinator.slot;
  if (strategy !== 'hierarchical') draft.synthesizer = synthesizerOf(draft, agents);
  for (const [at, slot] of agents.entries()) {
    swarmTable(ctx, 'slots').set(String(at).padStart(2, '0'), slot);
    draft.members.all += slot.count;
    for (let index = 0; index < slot.count; index++) {
      const unmade = {
        agent_id: null,
        public_key: '',
        created_at: 0,
        key_ref: null,
        phase: 'keyed',
        status: 'registered',
      } as const;
      const member = { slot: slot.slot, index, ...unmade, expires_at: null, grace_until: null };
      swarmTable(ctx, 'members').set(memberKey(at, index), { ...member, task: null, progress: 0 });
    }
  }
}

/** The slot that joins results: the coordinator's, or the one of that name. */
function synthesizerOf({ coordinator_slot }: SwarmState, slots: Opening['manifest']['agents']): number | null {
  const name = coordinator_slot ?? 'synthesizer';
  const at = slots.findIndex(({ slot }) => slot === name);
  return at < 0 || slots.length === 1 ? null : at;
}

/** An agent is on its way to its rights. */
function memberNews(
  draft: SwarmState,
  event: { readonly name: string; readonly value: unknown },
  ctx: ReducerContext,
): void {
  const news = makingNews(ctx, event);
  if (news === 'other' || news === undefined) return;
  const member = agentMade(news);
  if (member !== undefined) memberMade(draft, member, news.made ? undefined : news.code, ctx);
}

/** Tells all agents that have begun what the swarm hears. */
function tellMembers(event: { readonly name: string; readonly value: unknown }, ctx: ReducerContext): void {
  for (const { agent_id } of begunMembers(ctx)) ctx.send(entityAt(agent_id), event);
}

/** Asks all agents that have begun how they stand, and with what they work on: the swarm was revived. */
function askMembers(ctx: ReducerContext): void {
  for (const { agent_id, ...member } of begunMembers(ctx)) {
    keepRevived(agent_id, member.status, ctx); // it may have been revived meanwhile
    const value = present({ work: workUnderWay(member, ctx) });
    const answer = { reply: 'refusal', tag: `${REPORT_TAG}${agent_id}` } as const;
    ctx.send(entityAt(agent_id), { name: 'society/Report@1', value }, answer);
  }
}

function begunMembers(ctx: ReducerContext) {
  return membersOf(ctx).flatMap(([, { agent_id, ...member }]) =>
    agent_id === null || member.phase === 'keyed' ? [] : [{ agent_id, ...member }],
  );
}
