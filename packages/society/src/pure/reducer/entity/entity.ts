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

import { childNotice } from '@reprise/agent/contracts';
import { NOTICES } from '@reprise/contracts';
import { defineReducer, from, handledBy, reducerOnUse } from '@reprise/kernel/define';
import { jobEvents, jobNotMade, makingEvents, makingNews, nextRound, REST, type Round } from '@reprise/org/contracts';
import { accountOf, ENTITY, SOCIETY_BOUNDS } from '../../contracts/cell/names.js';
import { ownSession } from '../../contracts/cell/senders.js';
import { type EntityState, entityCommands, entityNews, entityState } from '../../contracts/entity/entity.js';
import { entityFacts, entityTables } from '../../contracts/entity-parts.js';
import { memberEvents } from '../../contracts/group/member.js';
import { seenNews } from '../../contracts/group/seeing.js';
import { proofNews } from '../../contracts/staging/proofs.js';
import { returnNews } from '../../contracts/staging/returns.js';
import { swarmTells } from '../../contracts/swarm/swarm.js';
import { answerCall } from '../call/answers.js';
import { appEvents, appHandlers } from '../call/app-calls.js';
import { isOfFailedCell, refusal } from '../call/operations.js';
import { type Routes, replyHandlers, type Unrouted } from '../call/replies.js';
import { type EntityContext, type EntityHandlers, idOf, rowKeyOf } from '../context/entity.js';
import { consentHandlers } from '../group/consent.js';
import { keepUntold, tellSomeUntold } from '../group/told-groups.js';
import { askBoards } from '../inbox/board-reading.js';
import { sayUnsaid } from '../inbox/member-news.js';
import { archived, archiveRefused } from '../memory/archive.js';
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
  rightsStand,
  setCompiled,
  tellStand,
} from '../rights/rights.js';
import { followInSessions } from '../rights/session.js';
import { proofHandlers } from '../staging/proofs.js';
import { returnHandlers } from '../staging/returns.js';
import { reviewHandlers } from '../staging/reviews.js';
import { failedTimer } from '../status/failed-agents.js';
import { isFailedOperation, isRateLimited } from '../status/failures.js';
import { inputRefused, isTold, sessionAdopted, sessionMade, sessionNews } from '../status/sessions.js';
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
import { tellSomeSwarms } from '../status/told-below.js';
import { changeSet, makerRefused } from './agent-rights.js';
import { callHandlers, ownerCallEvents } from './calls.js';
import { clearAgain, clearingHandlers } from './clearing.js';
import { childFailed, deputyOf, endFailedBelow, failedHandlers, failedReplies } from './failed-children.js';
import { memberHandlers, memberReplies } from './member.js';
import { planFailed } from './plan-failures.js';
import { keyed, registered } from './registration.js';
import { revivedHandlers, revivedReplies, revivedTimer, tellAgain } from './revived.js';
import { seenHandlers, sendInput } from './seen.js';
import { swarmHandlers, swarmRefused, swarmReplies } from './swarm-operations.js';
import { jobNews, workHandlers } from './work.js';

const EVENTS = {
  ...entityCommands,
  ...entityNews,
  ...proofNews,
  ...returnNews,
  ...swarmTells,
  ...jobEvents,
  ...makingEvents,
  ...memberEvents,
  ...seenNews,
  ...ownerCallEvents,
  ...appEvents,
  'aos.agent/ChildNotice@1': from(childNotice, ownSession),
  'sys/EffectOpened@1': NOTICES['sys/EffectOpened@1'],
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'],
} as const;

type Events = typeof EVENTS;

/** Who does something with the refusal of what was sent; of what a call waits for, the call is answered. */
const REPLIES: Routes<EntityState, EntityContext> = {
  ...failedReplies,
  ...memberReplies,
  ...revivedReplies,
  ...swarmReplies,
  adopted: sessionAdopted,
  app: (draft, call, _, ctx) => answerCall(draft, call, refusal('unknown_tool'), ctx),
  failed: (draft, call, { code }, ctx) =>
    answerCall(draft, call, { value: { error: code, code }, is_error: true }, ctx),
  said: (_draft, note, reply, ctx) => keepUntold(note, reply, ctx),
  archive: (_draft, key, reply, ctx) => archiveRefused(key, reply, ctx),
  compiled: (draft, _, { code }, ctx) => makerRefused(draft, code, ctx),
  session: (_draft, command_id, reply, ctx) => inputRefused(command_id, reply, ctx),
  rights: (_draft, about, reply, ctx) => rightsRefused(about, reply, ctx),
  // One that is gone is forgotten, one whose cell has failed is not.
  'swarm-gone': (_draft, swarm, { code }, ctx) => {
    if (!isOfFailedCell(code)) ctx.table('swarms').delete(swarm);
  },
};

const HANDLERS: EntityHandlers<Events> = {
  ...callHandlers,
  ...appHandlers,
  ...memberHandlers,
  ...seenHandlers,
  ...swarmHandlers,
  ...workHandlers,
  ...proofHandlers,
  ...returnHandlers,
  ...reviewHandlers,
  ...failedHandlers,
  ...clearingHandlers,
  ...consentHandlers,
  ...revivedHandlers,
  ...replyHandlers(REPLIES, otherNews),
  'society/Human@1': (draft, { display_name, root, above, app, grace_ms }, ctx) => {
    if (draft.started || draft.maker !== null) ctx.reject('entity_exists');
    keepAbove(ctx, { grant: above, limits: {} });
    Object.assign(draft, { display_name, app, grace_ms, declared: root, created_at: ctx.now });
    Object.assign(draft, { started: true, status: 'active' });
    stateRegistered(draft, ctx);
  },
  // An agent is made: it has its record, and does nothing yet.
  'society/Make@1': (draft, { above, limits, agent_id, agent_type, ...record }, ctx) => {
    if (draft.created_at !== 0) ctx.reject('entity_exists');
    if (agent_id !== idOf(ctx)) ctx.reject('wrong_address');
    keepAbove(ctx, { grant: above, limits });
    Object.assign(draft, record, { kind: agent_type, created_at: ctx.now, maker: ctx.caller });
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
  'society/Send@1': (draft, send, ctx) => {
    if (!mayOperate(draft)) ctx.reject('agent_not_active');
    operated(draft, ctx);
    const sessions = ctx.table('sessions');
    const isNew = sessions.get(send.session) === undefined;
    if (isNew && sessions.size >= SOCIETY_BOUNDS.sessions) ctx.reject('too_many_sessions');
    askMakerAgain(draft, ctx);
    if (!askBoards(draft, { for: 'input', send }, ctx)) sendInput(draft, send, ctx);
  },
  'society/Keyed@1': keyed,
  'society/Compiled@1': (_draft, compiled, ctx) => {
    setCompiled({ agent_id: rowKeyOf(ctx), payer: accountOf(idOf(ctx)) }, compiled, ctx);
  },
  'society/RightsSet@1': (_draft, { agent_id, ask }, ctx) => tellStand(agent_id, { ask, code: null }, ctx),
  'society/RightsStand@1': (draft, answer, ctx) => {
    // The maker has set what was asked for last: nothing waits any more, also for the answer that tells of it.
    if (answer.code === null && draft.asking?.ask === answer.ask) draft.stands = null;
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
  'sys/ChildFailed@1': childFailed,
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
    reduce: counting(handledBy<EntityState, Events, typeof entityTables>(HANDLERS)),
  }),
);

function counting(reduce: ReturnType<typeof handledBy<EntityState, Events, typeof entityTables>>): typeof reduce {
  return (draft, event, ctx) => {
    // A session may tell again of a run whose end is known, and was counted.
    const isToldAgain = event.name === 'aos.agent/ChildNotice@1' && isTold(event.value, event.row);
    const counts = isFailedOperation(event) && !isToldAgain;
    reduce(draft, event, ctx);
    if (counts) operationFailed(draft, isRateLimited(event), ctx);
  };
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

function stateRegistered(draft: EntityState, ctx: EntityContext): void {
  const { parent_entity_id, kind, public_key, depth, expires_at } = draft;
  const agent_id = idOf(ctx);
  ctx.record('society/Registered@1', { agent_id, parent_entity_id, kind, public_key, depth, expires_at });
  openL1(draft, ctx);
}

/** News of jobs that were not made, and of cells on their way to their rights: swarms, sessions, and agents. */
function otherNews(draft: EntityState, event: Unrouted, ctx: EntityContext): void {
  const unmade = event.name === 'sys/Reply@1' ? jobNotMade(event.value as object) : undefined;
  if (unmade !== undefined) return jobNews(draft, unmade, ctx);
  const news = makingNews(ctx, event);
  if (news === 'other' || news === undefined || swarmRefused(draft, news, ctx) || sessionMade(draft, news, ctx)) return;
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
