/**
 * An entity that was revived: what was sent to it while its cell had failed is gone. It asks its maker and its groups how it
 * stands, and its agents how they do, so that what was taken from it counts before anything else that it does.
 *
 * Invariants
 * V1  A revival gives nothing: who does not answer because its cell has failed as well has the entity be no member there.
 * V2  What an agent is told again is what its maker tells at each change; an agent that missed nothing changes nothing.
 */
import type { Address } from '@reprise/contracts';
import type { EventHandlers, ReducerContext } from '@reprise/kernel/define';
import { reportWork } from '@reprise/work/contracts';
import {
  type AgentStatus,
  type EntityState,
  entityAt,
  type entityTables,
  GROUP,
  type KeptForFailed,
  type revivedNews,
  type SwarmState,
  swarmAt,
} from '../contracts/index.js';
import { makerRefused } from './agent-rights.js';
import { answerCall } from './answers.js';
import { followBoard, readMissed } from './board-reading.js';
import { rowKeyOf } from './caller.js';
import { clearLater } from './clearing.js';
import { tellGroup } from './consent.js';
import { idOf, tableOf } from './entity-context.js';
import { agentLives, failedAgentOf, keptFor, tellBack, tellFailedAgain, watchFailed } from './failed-agents.js';
import { childFailed, endFailedBelow } from './failed-children.js';
import { removedItself } from './holds.js';
import { unsubscribe } from './inbox.js';
import { memberTable } from './member-context.js';
import { archiveCopies } from './memory.js';
import { isOfFailedCell, refusal } from './operations.js';
import { planFailed } from './plan-failures.js';
import { isReviewing, resumeReview } from './reviews.js';
import { askMakerAgain, changeRights, handedOnBy, setSwarmRights } from './rights.js';
import { askSessions, tellSessionsAgain } from './sessions.js';
import { parentStatus, setStatus, tellMaker, timeAgain } from './status.js';
import { isLegal } from './status-table.js';
import { entriesOf } from './table-rows.js';
import { tierByVerdicts } from './trust.js';
import { askAllUnheard, askUnheard } from './unheard.js';
import { reportWorks } from './works.js';

/** The handlers of the events about revivals. */
export const revivedHandlers: EventHandlers<EntityState, typeof revivedNews, typeof entityTables> = {
  'sys/Revived@1': (draft, _, ctx) => {
    if (draft.asking !== null) makerRefused(draft, 'cell_failed', ctx); // what it answered is gone: it is asked again
    endOpen(draft, ctx);
    draft.telling = { above: null, status: null };
    if (draft.started) timeAgain(draft, ctx);
    watchFailed(ctx);
    clearLater(ctx);
    askMaker(draft.maker, ctx);
    for (const [group] of tableOf(ctx, 'memberships').range()) askGroup(group, ctx);
    readMissed(ctx);
    askSessions(ctx);
    reportWorks(ctx);
    for (const [swarm] of tableOf(ctx, 'swarms').range()) tellSwarmAgain(draft, swarm, ctx);
    tellAgain(draft, '', ctx);
    askAllUnheard(draft.depth, ctx);
  },
  'society/AgentRevived@1': (draft, _, ctx, { status }) => {
    const agent = rowKeyOf(ctx);
    keepRevived(agent, status, ctx);
    tellAgent(draft, agent, ctx);
    agentBack(draft, agent, ctx);
  },
  'society/SwarmRevived@1': (draft, _, ctx) => tellSwarmAgain(draft, rowKeyOf(ctx), ctx),
  'society/Kept@1': (draft, kept, ctx) => carryOut(draft, kept, ctx),
  'society/AgentBack@1': (draft, { agent_id }, ctx) => agentBack(draft, agent_id, ctx),
  'society/Report@1': (draft, { work }, ctx) => {
    if (work !== undefined) reportWork(ctx, work);
    tellBack(draft.maker, idOf(ctx), ctx); // it may have been revived while the maker had failed
    tellMaker(draft, ctx);
    tellFailedAgain(draft.maker, ctx);
    tellSessionsAgain(draft, ctx);
    // The maker may have failed behind what was asked of it and before it said so.
    if (draft.asking !== null) makerRefused(draft, 'cell_failed', ctx);
    askMakerAgain(draft, ctx);
  },
  'society/TellAgain@1': (draft, { after }, ctx) => tellAgain(draft, after, ctx),
};

/** Begins the tags of questions to groups. */
export const STANDS_TAG = 'stands.';

/** Begins the tags of questions to agents how they stand. */
export const REPORT_TAG = 'report.';

/** An agent does not say how it stands: its cell had failed while that of this entity had as well, so nobody said so. */
export function agentSilent(draft: EntityState, tag: string, code: string, ctx: ReducerContext): void {
  const agent = tag.slice(REPORT_TAG.length);
  if (!isOfFailedCell(code) || failedAgentOf(agent, ctx) !== undefined) return;
  childFailed(draft, { cell: entityAt(agent), code }, ctx);
}

/** A group did not answer how this entity stands there: it is no member, or the group has failed as well (V1). */
export function groupSilent(draft: EntityState, tag: string, code: string, ctx: ReducerContext): void {
  const group = tag.slice(STANDS_TAG.length);
  const departure = memberTable(ctx, 'terms').get(group)?.departure_policy ?? 'permissive';
  const hasLeft = !isOfFailedCell(code);
  changeRights(draft, ctx, () => {
    tableOf(ctx, 'memberships').delete(group);
    if (hasLeft) memberTable(ctx, 'terms').delete(group);
  });
  if (!hasLeft) return;
  tellGroup(draft, group, false, ctx);
  followBoard(group, null, ctx);
  unsubscribe(group, ctx);
  archiveCopies(group, departure, ctx);
}

/** A swarm, or an agent of it, was revived: the creator tells the swarm again what its agents are told. */
export function swarmRevived({ creator }: SwarmState, ctx: ReducerContext): void {
  ctx.send(entityAt(creator), { name: 'society/SwarmRevived@1', value: {} });
}

/** What was done for an agent while its cell had failed it does itself now. @param status what its maker knows of it */
export function keepRevived(agent_id: string, status: AgentStatus, ctx: ReducerContext): void {
  const kept = keptFor(agent_id, status, ctx);
  if (kept !== undefined) ctx.send(entityAt(agent_id), { name: 'society/Kept@1', value: kept });
}

function carryOut(
  draft: EntityState,
  { status, reason, suspended, grace_until }: KeptForFailed,
  ctx: ReducerContext,
): void {
  if (status === 'removed') return endFor(draft, ctx);
  if (!isLegal(draft.status, status)) return;
  const by = suspended === null ? {} : { by: { id: suspended.by, depth: suspended.depth } };
  const grace = grace_until === null ? {} : { grace_ms: grace_until - ctx.now };
  setStatus(draft, status, { reason, ...by, ...grace, isSaid: true }, ctx);
}

/** Its time of grace is over, and its maker has cleared what it left. */
function endFor(draft: EntityState, ctx: ReducerContext): void {
  const how = { reason: 'grace_over', isSaid: true } as const;
  for (const to of ['deactivated', 'removed'] as const) if (isLegal(draft.status, to)) setStatus(draft, to, how, ctx);
  endFailedBelow(draft, ctx);
}

/** An agent below was revived: it hears what this entity asked of it meanwhile, and so do the entities above. */
function agentBack(draft: EntityState, agent_id: string, ctx: ReducerContext): void {
  if (failedAgentOf(agent_id, ctx)?.status === 'removed') removedItself(agent_id, ctx);
  agentLives(agent_id, ctx);
  askUnheard(agent_id, draft.depth, ctx);
  tellBack(draft.maker, agent_id, ctx);
}

/** Who called has heard that the cell has failed: no call waits any more, and the plans of the cell are gone. */
function endOpen(draft: EntityState, ctx: ReducerContext): void {
  for (const [call] of entriesOf(tableOf(ctx, 'calls')))
    answerCall(draft, call, refusal('cell_failed', { cell: 'failed' }), ctx);
  const plans = tableOf(ctx, 'plans');
  for (const [plan, purpose] of entriesOf(plans)) {
    const isReview = isReviewing(purpose, ctx); // its items are written once each, so it goes on
    if (isReview) plans.delete(plan);
    if (isReview) resumeReview(draft, purpose, ctx);
    else planFailed(draft, Number(plan), 'cell_failed', ctx);
  }
}

function askMaker(maker: Address | null, ctx: ReducerContext): void {
  if (maker !== null) ctx.send([maker[0], maker[1]], { name: 'society/AgentRevived@1', value: {} });
}

function askGroup(group: string, ctx: ReducerContext): void {
  const answer = { reply: 'refusal', tag: `${STANDS_TAG}${group}` } as const;
  ctx.send([GROUP, group], { name: 'society/MemberRevived@1', value: {} }, answer);
}

/** The agents that one delivery tells; the rest follows before any other input. */
const TOLD_AT_ONCE = 16;

function tellAgain(draft: EntityState, after: string, ctx: ReducerContext): void {
  const rows = tableOf(ctx, 'children').range({ ...(after === '' ? {} : { after }), limit: TOLD_AT_ONCE });
  for (const [agent, { status }] of rows) {
    keepRevived(agent, status, ctx); // it may have been revived meanwhile
    if (status === 'removed') continue;
    tellAgent(draft, agent, ctx);
    const answer = { reply: 'refusal', tag: `${REPORT_TAG}${agent}` } as const;
    ctx.send(entityAt(agent), { name: 'society/Report@1', value: {} }, answer);
  }
  const last = rows.length === TOLD_AT_ONCE ? rows.at(-1)?.[0] : undefined;
  if (last !== undefined) ctx.send(ctx.address, { name: 'society/TellAgain@1', value: { after: last } });
}

/** Tells an agent all that its maker tells it at changes. */
function tellAgent(draft: EntityState, agent: string, ctx: ReducerContext): void {
  for (const event of toldBelow(draft, ctx)) ctx.send(entityAt(agent), event);
  ctx.send(entityAt(agent), { name: 'society/Tier@1', value: { tier: tierByVerdicts(agent, ctx) } });
}

/** A swarm passes on to its agents what it is told; it ends with its creator. */
function tellSwarmAgain(draft: EntityState, swarm: string, ctx: ReducerContext): void {
  setSwarmRights(draft, swarm, ctx);
  for (const event of toldBelow(draft, ctx)) ctx.send(swarmAt(swarm), event);
  if (draft.status === 'deactivated' || draft.status === 'removed')
    ctx.send(swarmAt(swarm), { name: 'society/CreatorOver@1', value: {} });
}

function toldBelow(draft: EntityState, ctx: ReducerContext) {
  return [
    { name: 'society/Above@1', value: handedOnBy(draft, ctx) },
    { name: 'society/ParentStatus@1', value: parentStatus(draft, ctx) },
  ];
}
