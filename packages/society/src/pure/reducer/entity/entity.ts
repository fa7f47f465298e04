/**
 * `society/Entity@1`: a person or an agent. It makes the agents below it, owns their sessions' work, and acts for those
 * that call its tools.
 *
 * Invariants
 * E1  An agent acts only when its rights stand; what comes earlier is refused (SOC-8).
 * E2  A call acts when the gate has permitted it, and is answered once, where it came from.
 * E3  Rights follow from the state by one function, in the delivery of the change (CAP-12).
 * E4  A status changes by `setStatus` only, along its table (SOC-35).
 * E5  Who calls is known by the event's declared senders; no argument names it.
 * E6  No text of people or models enters the state, except display names.
 */

import { childNotice, ownerAnswer, ownerCall, ownerParked } from '@reprise/agent/contracts';
import { NOTICES } from '@reprise/contracts';
import { by, defineReducer, type EventHandlers, from, handledBy, reducerOnUse } from '@reprise/kernel/define';
import {
  actorIn,
  job,
  jobNotMade,
  KEY_DIGITS,
  makingEvents,
  makingNews,
  nextRound,
  REST,
  type Round,
} from '@reprise/org/contracts';
import { accountOf } from '../../contracts/cell/names.js';
import { ownSession } from '../../contracts/cell/senders.js';
import {
  type AgentRecord,
  ENTITY,
  type EntityState,
  entityCommands,
  entityFacts,
  entityNews,
  entityState,
  entityTables,
  memberEvents,
  proofNews,
  returnNews,
  SOCIETY_BOUNDS,
  type SocietyToolName,
  seenNews,
} from '../../contracts/index.js';
import { answerCall, openCall } from '../call/answers.js';
import { answeredByApp, parkedByApp } from '../call/app-calls.js';
import { type OperationsOf, refusal } from '../call/operations.js';
import { type Routes, takeReply } from '../call/replies.js';
import { type EntityContext, idOf, rowKeyOf } from '../context/entity.js';
import { takeLead, takeMembership } from '../group/consent.js';
import { keepUntold, tellSomeUntold } from '../group/told-groups.js';
import { askBoards } from '../inbox/board-reading.js';
import { sayUnsaid } from '../inbox/member-news.js';
import { archiveAsked, archived, archiveRefused } from '../memory/archive.js';
import { openL1 } from '../memory/hot.js';
import { archiveSomeCopies } from '../memory/memory.js';
import { mayOperate } from '../rights/may-ask.js';
import { agentMade, unmakeAgent } from '../rights/register.js';
import {
  askMakerAgain,
  changeRights,
  compiledOf,
  keepAbove,
  rightsRefused,
  rightsSet,
  rightsStand,
  setCompiled,
  tellStand,
} from '../rights/rights.js';
import { followInSessions } from '../rights/session.js';
import { proofHandlers, proofOperations } from '../staging/proofs.js';
import { returnOperations } from '../staging/returns.js';
import { reviewOperations } from '../staging/reviews.js';
import { failedTimer } from '../status/failed-agents.js';
import { isFailedOperation, isRateLimited } from '../status/failures.js';
import { inputRefused, isTold, requireRoom, sessionMade, sessionNews } from '../status/sessions.js';
import {
  leaveGroups,
  operated,
  operationFailed,
  parentChanged,
  setStatus,
  setTimers,
  statusTimer,
  tellChildren,
} from '../status/status.js';
import { swarmGone, tellSomeSwarms } from '../status/told-below.js';
import { changeSet, makerRefused } from './agent-rights.js';
import { agentOperations } from './agents.js';
import { callChecked, ownerOrigin, takeAsk, takeCall } from './calls.js';
import { clearAgain, cleared, clearRemoved } from './clearing.js';
import {
  answeredBelow,
  childFailed,
  childStatus,
  deputyOf,
  endFailedBelow,
  failedHandlers,
  isAnswerOf,
  notReached,
  unheardAnswered,
} from './failed-children.js';
import { emconSet, hotRefused, memberHandlers, memberOperations } from './member.js';
import { planFailed } from './plan-failures.js';
import { keyed, registered } from './registration.js';
import { agentSilent, groupSilent, revivedHandlers, revivedTimer, tellAgain } from './revived.js';
import { seenHandlers, sendInput } from './seen.js';
import { leadAnswered, passRefused, swarmOperations, swarmRefused } from './swarm-operations.js';
import { returnHandlers, swarmEventsOfEntity, swarmHandlers } from './swarms.js';
import { jobNews } from './work.js';

/** The cell of the app that answers its own owner tools. */
const app = by.cell({ state: 'app' });

const EVENTS = {
  ...entityCommands,
  ...entityNews,
  ...proofNews,
  ...returnNews,
  ...swarmEventsOfEntity,
  ...makingEvents,
  ...memberEvents,
  ...seenNews,
  'aos.agent/OwnerCall@1': from(ownerCall, ownSession, job('works', KEY_DIGITS)),
  'aos.agent/OwnerAnswer@1': from(ownerAnswer, app),
  'aos.agent/OwnerParked@1': from(ownerParked, app),
  'aos.agent/ChildNotice@1': from(childNotice, ownSession),
  'sys/EffectOpened@1': NOTICES['sys/EffectOpened@1'],
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'],
} as const;

type Events = typeof EVENTS;

/** All tools of a society, by name: each file of operations brings its own. */
const OPERATIONS: OperationsOf<SocietyToolName> = {
  ...agentOperations,
  ...memberOperations,
  ...proofOperations,
  ...returnOperations,
  ...reviewOperations,
  ...swarmOperations,
};

/** Who does something with the refusal of what was sent; of what a call waits for, the call is answered. */
const REPLIES: Routes<EntityState, EntityContext> = {
  ask: (draft, call, { to: [, about], code }, ctx) => notReached(draft, { call, about, code }, ctx),
  hold: (draft, call, _, ctx) => answerCall(draft, call, refusal('agent_unknown'), ctx),
  app: (draft, call, _, ctx) => answerCall(draft, call, refusal('unknown_tool'), ctx),
  failed: (draft, call, { code }, ctx) =>
    answerCall(draft, call, { value: { error: code, code }, is_error: true }, ctx),
  hot: hotRefused,
  emcon: emconSet,
  lead: leadAnswered,
  swarm: passRefused,
  report: agentSilent,
  stands: groupSilent,
  said: (_draft, note, reply, ctx) => keepUntold(note, reply, ctx),
  archive: (_draft, key, reply, ctx) => archiveRefused(key, reply, ctx),
  compiled: (draft, _, { code }, ctx) => makerRefused(draft, code, ctx),
  session: (_draft, command_id, reply, ctx) => inputRefused(command_id, reply, ctx),
  rights: (_draft, about, reply, ctx) => rightsRefused(about, reply, ctx),
  'swarm-gone': (_draft, swarm, reply, ctx) => swarmGone(swarm, reply, ctx),
};

const HANDLERS: EventHandlers<EntityState, Events, typeof entityTables> = {
  ...memberHandlers,
  ...seenHandlers,
  ...swarmHandlers,
  ...proofHandlers,
  ...returnHandlers,
  ...failedHandlers,
  ...revivedHandlers,
  'society/Human@1': (draft, { display_name, root, above, app, grace_ms }, ctx) => {
    if (draft.started || draft.maker !== null) ctx.reject('entity_exists');
    keepAbove(ctx, { grant: above, limits: {} });
    Object.assign(draft, { display_name, app, grace_ms, declared: root, created_at: ctx.now });
    Object.assign(draft, { started: true, status: 'active' });
    stateRegistered(draft, ctx);
  },
  'society/Make@1': (draft, record, ctx) => {
    if (draft.created_at !== 0) ctx.reject('entity_exists');
    made(draft, record, ctx);
  },
  'society/Start@1': (draft, _, ctx) => {
    if (draft.started) ctx.reject('not_yours');
    draft.started = true;
    setTimers(draft, ctx);
    stateRegistered(draft, ctx);
  },
  'society/Unmake@1': (draft, _, ctx) => {
    if (draft.started) ctx.reject('not_yours');
    ctx.end();
  },
  'society/Call@1': (draft, { call_id, name, args }, ctx) => {
    takeCall(OPERATIONS, draft, { origin: { kind: 'request', call_id, actor: actorIn(ctx) }, name, args }, ctx);
  },
  'aos.agent/OwnerCall@1': (draft, call, ctx, row) => {
    takeCall(OPERATIONS, draft, { origin: ownerOrigin(call, row, ctx), name: call.name, args: call.args }, ctx);
  },
  'aos.agent/OwnerAnswer@1': (draft, answer, ctx) => answeredByApp(draft, answer, ctx),
  'aos.agent/OwnerParked@1': (_draft, parked, ctx) => parkedByApp(parked, ctx),
  'society/Send@1': (draft, send, ctx) => {
    if (!mayOperate(draft)) ctx.reject('agent_not_active');
    operated(draft, ctx);
    requireRoom(send, ctx);
    askMakerAgain(draft, ctx);
    if (!askBoards(draft, { for: 'input', send }, ctx)) sendInput(draft, send, ctx);
  },
  'society/Checked@1': (draft, checked, ctx) => callChecked(OPERATIONS, draft, checked, ctx),
  'society/Keyed@1': (draft, outcome, ctx) => keyed(draft, outcome, ctx),
  'society/Ask@1': (draft, asked, ctx) => {
    if (!draft.started) ctx.reject('agent_unknown');
    takeAsk(OPERATIONS, draft, asked, ctx);
  },
  'society/Told@1': (draft, told, ctx) => {
    if (told.to === idOf(ctx) && unheardAnswered(draft, told, ctx)) return;
    if (told.to !== idOf(ctx) || !isAnswerOf(OPERATIONS, told, ctx)) return ctx.reject('not_yours');
    answeredBelow(told, ctx);
    if (!told.is_error && openCall(told.call, ctx)?.name === 'agent_deactivate') archiveAsked(told.agent_id, ctx);
    answerCall(draft, told.call, { value: told.value, is_error: told.is_error }, ctx);
  },
  'society/Compiled@1': (_draft, compiled, ctx) => {
    setCompiled({ agent_id: rowKeyOf(ctx), payer: accountOf(idOf(ctx)) }, compiled, ctx);
  },
  'society/RightsSet@1': (_draft, { agent_id, ask }, ctx) => {
    tellStand(agent_id, { ask, code: null }, ctx);
  },
  'society/RightsStand@1': (draft, answer, ctx) => {
    rightsSet(draft, answer);
    changeSet(draft, answer, ctx);
    if (!rightsStand(draft, answer, ctx)) return;
    followInSessions(compiledOf(draft, ctx).exercise, ctx);
    sayUnsaid(ctx);
    if (draft.status === 'removed') leaveGroups(ctx); // its time had ended, so its groups did not hear it
  },
  'society/Above@1': (draft, above, ctx) => {
    changeRights(draft, ctx, () => keepAbove(ctx, above));
  },
  'society/ParentStatus@1': (draft, { active, removed, by, depth }, ctx) => {
    parentChanged(draft, { active, removed }, { id: by, depth }, ctx);
    endFailedBelow(draft, ctx);
  },
  'society/ChildStatus@1': (draft, told, ctx) => childStatus(draft, told, ctx),
  'sys/ChildFailed@1': (draft, failed, ctx) => childFailed(draft, failed, ctx),
  'society/Removed@1': (draft, removed, ctx) => clearRemoved(draft, removed, ctx),
  'society/Cleared@1': (draft, value, ctx) => cleared(draft, value, ctx),
  'society/Membership@1': (draft, told, ctx) => takeMembership(draft, told, ctx),
  'society/Lead@1': (draft, lead, ctx) => takeLead(draft, lead, ctx),
  'society/Archived@1': (_draft, value, ctx) => archived(value, ctx),
  [REST]: (draft, _, ctx) => nextRound(ctx, (name) => roundOf(draft, name, ctx)),
  'aos.agent/ChildNotice@1': (draft, notice, ctx, row) => {
    const closed = sessionNews(draft, notice, row, ctx);
    const endsWithIt = draft.kind === 'claude-code' && closed !== undefined && draft.status !== 'deactivated';
    if (endsWithIt && draft.status !== 'removed') setStatus(draft, 'deactivated', { reason: 'session_closed' }, ctx);
  },
  'sys/EffectOpened@1': (_draft, { effect }, ctx) => {
    ctx.command('sys/Settle@1', { effect, outcome: { status: 'ok', payload: {} } });
  },
  'sys/TimerFired@1': (draft, { name }, ctx) => {
    if (revivedTimer(draft, name, ctx)) return;
    if (clearAgain(name, ctx) || failedTimer(deputyOf(draft, ctx), name, ctx)) return;
    statusTimer(draft, name, ctx);
    endFailedBelow(draft, ctx);
  },
  'sys/PlanFailed@1': (draft, { plan, code }, ctx) => planFailed(draft, plan[2], code, ctx),
  'sys/Reply@1': (draft, value, ctx) => {
    const unmade = jobNotMade(value);
    if (unmade !== undefined) return jobNews(draft, unmade, ctx);
    if (!takeReply(REPLIES, draft, value, ctx)) agentNews(draft, { name: 'sys/Reply@1', value }, ctx);
  },
  'sys/CommandRefused@1': (draft, value, ctx) => {
    if (!takeReply(REPLIES, draft, value, ctx)) agentNews(draft, { name: 'sys/CommandRefused@1', value }, ctx);
  },
  'work/RightsStand@1': (draft, value, ctx) => agentNews(draft, { name: 'work/RightsStand@1', value }, ctx),
};

/** The reducer of entities: part of the app of every world with a society. */
export const entityReducer = reducerOnUse(ENTITY, () =>
  defineReducer({
    name: ENTITY,
    state: entityState,
    events: EVENTS,
    facts: entityFacts,
    tables: entityTables,
    init: (): EntityState => initial(),
    reduce: counting(handledBy(HANDLERS)),
  }),
);

function counting(reduce: ReturnType<typeof handledBy<EntityState, Events, typeof entityTables>>): typeof reduce {
  return (draft, event, ctx) => {
    const counts = isFailedOperation(event) && !isToldAgain(event);
    reduce(draft, event, ctx);
    if (counts) operationFailed(draft, isRateLimited(event), ctx);
  };
}

type Event = Parameters<ReturnType<typeof handledBy<EntityState, Events, typeof entityTables>>>[1];

/** Whether a session tells again of a run whose end is known, and was counted. */
function isToldAgain(event: Event): boolean {
  return event.name === 'aos.agent/ChildNotice@1' && isTold(event.value, event.row);
}

function initial(): EntityState {
  return {
    kind: 'person',
    display_name: '-',
    parent_entity_id: null,
    maker: null,
    lineage: [],
    depth: 0,
    public_key: null,
    key_ref: null,
    created_at: 0,
    expires_at: null,
    status: 'registered',
    started: false,
    epoch: 0,
    reason: 'started',
    suspended: null,
    grace_until: null,
    declared: {},
    granted: null,
    revision: 0,
    trust_floor: 'untrusted',
    automerge: false,
    bonus_groups: [],
    swarm_group: null,
    app: null,
    grace_ms: SOCIETY_BOUNDS.grace_ms,
    tier: 'medium',
    emcon: false,
    waits_for_maker: false,
    asks: 0,
    asking: null,
    stands: null,
    narrowed_at: 0,
    staged_at: 0,
    failures: [],
    parent_active: true,
    orphaned: false,
    children: 0,
    calls: 0,
    changing: null,
  };
}

/** An agent is made: it has its record, and does nothing yet. */
function made(draft: EntityState, record: AgentRecord, ctx: EntityContext): void {
  const { above, limits, agent_id, agent_type, ...rest } = record;
  if (agent_id !== idOf(ctx)) ctx.reject('wrong_address');
  keepAbove(ctx, { grant: above, limits });
  Object.assign(draft, rest, { kind: agent_type, created_at: ctx.now, maker: ctx.caller });
}

function stateRegistered(draft: EntityState, ctx: EntityContext): void {
  const { parent_entity_id, kind, public_key, depth, expires_at } = draft;
  const agent_id = idOf(ctx);
  ctx.record('society/Registered@1', { agent_id, parent_entity_id, kind, public_key, depth, expires_at });
  openL1(draft, ctx);
}

function agentNews(
  draft: EntityState,
  event: { readonly name: string; readonly value: unknown },
  ctx: EntityContext,
): void {
  const news = makingNews(ctx, event);
  if (news === 'other' || news === undefined || swarmRefused(draft, news, ctx)) return;
  if (sessionMade(news, ctx)) return;
  const call = agentMade(news);
  if (call === undefined) return;
  const [, agent_id] = news.to;
  if (!news.made) unmakeAgent(ctx, agent_id);
  registered(draft, { call, agent_id, code: news.made ? undefined : news.code }, ctx);
}

/** The rounds of an entity: over its agents, its swarms, what its groups have missed, and the copies from a group. */
function roundOf(draft: EntityState, name: string, ctx: EntityContext): Round {
  const [of = '', about = '', more = ''] = name.split(' ');
  switch (of) {
    case 'above':
    case 'status':
      return (after) => tellChildren(draft, of, after, ctx);
    case 'swarms':
      return (after) => tellSomeSwarms(draft, `${about} ${more}`, after, ctx);
    case 'untold':
      return () => tellSomeUntold(about, ctx);
    case 'copies':
      return () => archiveSomeCopies(about, more, ctx);
    default:
      return (after) => tellAgain(draft, after, ctx);
  }
}
