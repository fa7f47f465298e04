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
import {
  by,
  defineReducer,
  type EventHandlers,
  from,
  handledBy,
  type ReducerContext,
  reducerOnUse,
} from '@reprise/kernel/define';
import { actorIn, job, jobNotMade, makingEvents, makingNews } from '@reprise/work/contracts';
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
  SOCIETY_BOUNDS,
  seenNews,
} from '../contracts/index.js';
import { ownSession } from '../contracts/senders.js';
import { accountOf } from './accounts.js';
import { changeSet, makerRefused } from './agent-rights.js';
import { operations } from './all-operations.js';

import { answerCall, answererFailed, openCall } from './answers.js';

import { APP_TAG, answeredByApp, appRefused, parkedByApp } from './app-calls.js';
import { archiveAsked, archived, archiveRefused } from './archive.js';
import { askBoards } from './board-reading.js';
import { callOfPlan } from './call-plans.js';
import { rowKeyOf } from './caller.js';
import { ASK_TAG, askRefused, callChecked, ownerOrigin, takeAsk, takeCall } from './calls.js';
import { clearAgain, cleared, clearRemoved } from './clearing.js';
import { takeLead, takeMembership } from './consent.js';
import { idOf } from './entity-context.js';
import { returnEvents, returnHandlers } from './entity-returns.js';
import { swarmEventsOfEntity, swarmHandlers } from './entity-swarms.js';
import { jobNews } from './entity-work.js';
import { failedTimer } from './failed-agents.js';
import {
  answeredBelow,
  childFailed,
  childStatus,
  deputyOf,
  endFailedBelow,
  failedHandlers,
  HOLD_TAG,
  holdRefused,
  isAnswerOf,
  unheardAnswered,
} from './failed-children.js';
import { isFailedOperation, isRateLimited } from './failures.js';
import { openL1 } from './hot.js';
import { sendInput } from './inputs.js';
import { memberAnswered, memberHandlers } from './member.js';
import { sayUnsaid } from './member-news.js';
import { refusal } from './operations.js';
import { planFailed } from './plan-failures.js';
import { proofHandlers } from './proofs.js';
import { agentMade, unmakeAgent } from './register.js';
import { type AgentKey, keyed, registered } from './registration.js';
import { agentSilent, groupSilent, REPORT_TAG, revivedHandlers, STANDS_TAG } from './revived.js';
import {
  askMakerAgain,
  COMPILED_TAG,
  changeRights,
  compiledOf,
  handedOnBy,
  keepAbove,
  refusedRights,
  rightsSet,
  rightsStand,
  setCompiled,
} from './rights.js';
import { seenHandlers } from './seen.js';
import { followInSessions } from './session-rights.js';
import { isTold, requireRoom, sessionMade, sessionNews } from './sessions.js';
import {
  leaveGroups,
  operationFailed,
  parentChanged,
  SWARM_GONE_TAG,
  setStatus,
  setTimers,
  statusTimer,
  swarmGone,
  tellChildren,
} from './status.js';
import { LEAD_TAG, leadAnswered, passRefused, SWARM_TAG, swarmRefused } from './swarm-operations.js';
import { WORK_DIGITS } from './works.js';

/** The cell of the app that answers its own owner tools. */
const app = by.cell({ state: 'app' });

const EVENTS = {
  ...entityCommands,
  ...entityNews,
  ...proofNews,
  ...returnEvents,
  ...swarmEventsOfEntity,
  ...makingEvents,
  ...memberEvents,
  ...seenNews,
  'aos.agent/OwnerCall@1': from(ownerCall, ownSession, job('works', WORK_DIGITS)),
  'aos.agent/OwnerAnswer@1': from(ownerAnswer, app),
  'aos.agent/OwnerParked@1': from(ownerParked, app),
  'aos.agent/ChildNotice@1': from(childNotice, ownSession),
  'sys/EffectOpened@1': NOTICES['sys/EffectOpened@1'],
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'],
} as const;

type Events = typeof EVENTS;

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
    takeCall(operations(), draft, { origin: { kind: 'request', call_id, actor: actorIn(ctx) }, name, args }, ctx);
  },
  'aos.agent/OwnerCall@1': (draft, call, ctx, row) => {
    takeCall(operations(), draft, { origin: ownerOrigin(call, row, ctx), name: call.name, args: call.args }, ctx);
  },
  'aos.agent/OwnerAnswer@1': (draft, answer, ctx) => answeredByApp(draft, answer, ctx),
  'aos.agent/OwnerParked@1': (_draft, parked, ctx) => parkedByApp(parked, ctx),
  'society/Send@1': (draft, send, ctx) => {
    requireActive(draft, ctx);
    if (draft.kind !== 'person' && draft.status === 'registered')
      setStatus(draft, 'active', { reason: 'operated' }, ctx);
    requireRoom(send, ctx);
    askMakerAgain(draft, ctx);
    if (!askBoards(draft, { for: 'input', send }, ctx)) sendInput(draft, send, ctx);
  },
  'society/SendSoon@1': (_draft, send, ctx) => {
    ctx.send(ctx.address, { name: 'society/SendNow@1', value: send });
  },
  'society/SendNow@1': (draft, send, ctx) => {
    sendInput(draft, send, ctx);
  },
  'society/Checked@1': (draft, checked, ctx) => callChecked(operations(), draft, checked, ctx),
  'society/Keyed@1': (draft, { code, value }, ctx) => {
    const call = callOfPlan(ctx);
    if (code !== null) return answerCall(draft, call, refusal('key_not_made', { cause: code }), ctx);
    keyed(draft, call, value as unknown as AgentKey & { readonly private_key_encrypted: string | null }, ctx);
  },
  'society/Ask@1': (draft, asked, ctx) => {
    if (!draft.started) ctx.reject('agent_unknown');
    takeAsk(operations(), draft, asked, ctx);
  },
  'society/Told@1': (draft, told, ctx) => {
    if (told.to === idOf(ctx) && unheardAnswered(draft, told, ctx)) return;
    if (told.to !== idOf(ctx) || !isAnswerOf(operations(), told, ctx)) return ctx.reject('not_yours');
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
  'society/Continue@1': (draft, _, ctx) => {
    tellChildren(draft, () => handedOnBy(draft, ctx), ctx);
  },
  'aos.agent/ChildNotice@1': (draft, notice, ctx, row) => {
    const closed = sessionNews(draft, notice, row, ctx);
    const endsWithIt = draft.kind === 'claude-code' && closed !== undefined && draft.status !== 'deactivated';
    if (endsWithIt && draft.status !== 'removed') setStatus(draft, 'deactivated', { reason: 'session_closed' }, ctx);
  },
  'sys/EffectOpened@1': (_draft, { effect }, ctx) => {
    ctx.command('sys/Settle@1', { effect, outcome: { status: 'ok', payload: {} } });
  },
  'sys/TimerFired@1': (draft, { name }, ctx) => {
    if (clearAgain(name, ctx) || failedTimer(deputyOf(draft, ctx), name, ctx)) return;
    statusTimer(draft, name, ctx);
    endFailedBelow(draft, ctx);
  },
  'sys/PlanFailed@1': (draft, { plan, code }, ctx) => planFailed(draft, plan[2], code, ctx),
  'sys/Reply@1': (draft, value, ctx) => {
    if (answererFailed(draft, value, ctx) || archiveRefused(value, ctx)) return;
    const unmade = jobNotMade(value);
    if (unmade !== undefined) return jobNews(draft, unmade, ctx);
    if (value.tag?.startsWith(ASK_TAG)) {
      const { tag, to, code = '' } = value;
      if (value.outcome === 'rejected') askRefused(draft, { tag, to, code }, ctx);
      return;
    }
    if (value.tag?.startsWith(REPORT_TAG)) return agentSilent(draft, value.tag, value.code ?? '', ctx);
    if (value.tag?.startsWith(STANDS_TAG)) return groupSilent(draft, value.tag, value.code ?? '', ctx);
    if (value.tag === COMPILED_TAG) return makerRefused(draft, value.code ?? '', ctx);
    if (value.tag?.startsWith(APP_TAG)) return appRefused(draft, value.tag, ctx);
    if (value.tag?.startsWith(SWARM_GONE_TAG)) return swarmGone(value.tag, value.code ?? '', ctx);
    if (value.tag?.startsWith(LEAD_TAG)) return leadAnswered(draft, value, ctx);
    if (value.tag?.startsWith(SWARM_TAG)) {
      const { tag, to, code = '' } = value;
      return passRefused(draft, { tag, to, code }, ctx);
    }
    if (!memberAnswered(draft, value, ctx)) agentNews(draft, { name: 'sys/Reply@1', value }, ctx);
  },
  'sys/CommandRefused@1': (draft, value, ctx) => {
    const refused = refusedRights(value.tag);
    if (refused !== undefined) return tellStand(refused.agent_id, { ask: refused.ask, code: value.code }, ctx);
    if (value.tag?.startsWith(HOLD_TAG)) return holdRefused(draft, value.tag, ctx);
    agentNews(draft, { name: 'sys/CommandRefused@1', value }, ctx);
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

/** Counts failed operations after each delivery. */
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
    telling: { above: null, status: null },
    changing: null,
  };
}

/** An agent is made: it has its record, and does nothing yet. */
function made(draft: EntityState, record: AgentRecord, ctx: ReducerContext): void {
  const { above, limits, agent_id, agent_type, ...rest } = record;
  if (agent_id !== idOf(ctx)) ctx.reject('wrong_address');
  keepAbove(ctx, { grant: above, limits });
  Object.assign(draft, rest, { kind: agent_type, created_at: ctx.now, maker: ctx.caller });
}

function stateRegistered(draft: EntityState, ctx: ReducerContext): void {
  const { parent_entity_id, kind, public_key, depth, expires_at } = draft;
  const agent_id = idOf(ctx);
  ctx.record('society/Registered@1', { agent_id, parent_entity_id, kind, public_key, depth, expires_at });
  openL1(draft, ctx);
}

/** An agent of this entity is on its way to its rights. */
function agentNews(
  draft: EntityState,
  event: { readonly name: string; readonly value: unknown },
  ctx: ReducerContext,
): void {
  const news = makingNews(ctx, event);
  if (news === 'other' || news === undefined || swarmRefused(draft, news, ctx)) return;
  if (sessionMade(news, ctx)) return;
  const agent_id = agentMade(news);
  if (agent_id === undefined) return;
  if (!news.made) unmakeAgent(ctx, agent_id);
  registered(draft, agent_id, news.made ? undefined : news.code, ctx);
}

function tellStand(
  agent_id: string,
  answer: { readonly ask: number; readonly code: string | null },
  ctx: ReducerContext,
): void {
  ctx.send([ENTITY, agent_id], { name: 'society/RightsStand@1', value: answer });
}

function requireActive({ kind, started, status, parent_active, declared }: EntityState, ctx: ReducerContext): void {
  if (kind === 'person') return;
  const acts = started && (status === 'registered' || status === 'active');
  if (!acts || (!parent_active && declared.autonomous !== true)) ctx.reject('agent_not_active');
}
