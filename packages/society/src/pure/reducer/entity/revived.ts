/**
 * An entity that was revived: what was sent to it while its cell had failed is gone. It asks its maker and its groups how it
 * stands, and its agents how they do, so that what was taken from it counts before anything else that it does.
 *
 * Invariants
 * V1  A revival gives nothing: who does not answer because its cell has failed as well has the entity be no member there.
 * V2  What an agent is told again is what its maker tells at each change; an agent that missed nothing changes nothing.
 * V3  What the entity goes on with by itself is judged when all answers have come: it waits for a timer, which fires when the
 *     cascade of the revival is over.
 */

import { allRows } from '@reprise/kernel/define';
import { beginRound, reportWork, resumeRounds, someRows } from '@reprise/org/contracts';
import type { revivedNews } from '../../contracts/agent/failed.js';
import { entityAt, GROUP, isLegal, l1At } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import { answerCall } from '../call/answers.js';
import { FAILED, isOfFailedCell, refusal } from '../call/operations.js';
import { type Routes, refusedTo } from '../call/replies.js';
import { type EntityContext, type EntityHandlers, idOf, rowKeyOf, sendUp } from '../context/entity.js';
import { tellGroup } from '../group/consent.js';
import { dropUntold } from '../group/told-groups.js';
import { askBoards, followBoard, readFrom } from '../inbox/board-reading.js';
import { unsubscribe } from '../inbox/inbox.js';
import { archiveCopies } from '../memory/memory.js';
import { tierByVerdicts } from '../memory/trust.js';
import { askMakerAgain, changeRights } from '../rights/rights.js';
import { sessionAt, sessionKey } from '../rights/session.js';
import { isReviewing, resumeReviews } from '../staging/reviews.js';
import {
  agentLives,
  askReport,
  failedAgentOf,
  isSilent,
  keepRevived,
  tellBack,
  tellFailedAgain,
  tellSession,
  watchFailed,
} from '../status/failed-agents.js';
import { removedItself } from '../status/holds.js';
import { dropAdopting } from '../status/sessions.js';
import { eachWork, setStatus, tellMaker, timeAgain } from '../status/status.js';
import { TOLD_BELOW, tellSwarmAgain, tellSwarms, toldBelow } from '../status/told-below.js';
import { askAllUnheard, askUnheard } from '../status/unheard.js';
import { makerRefused } from './agent-rights.js';
import { clearLater } from './clearing.js';
import { childFailed, endFailedBelow } from './failed-children.js';
import { planFailed } from './plan-failures.js';

export const revivedHandlers: EntityHandlers<typeof revivedNews> = {
  'sys/Revived@1': (draft, _, ctx) => {
    if (draft.asking !== null) makerRefused(draft, 'cell_failed', ctx); // what it answered is gone: it is asked again
    endOpen(draft, ctx);
    dropAdopting('cell_failed', ctx);
    resumeRounds(ctx);
    if (draft.started) timeAgain(draft, ctx);
    watchFailed(ctx);
    clearLater(ctx);
    sendUp(draft.maker, { name: 'society/AgentRevived@1', value: {} }, ctx);
    for (const [group] of allRows(ctx.table('memberships'))) {
      ctx.send([GROUP, group], { name: 'society/MemberRevived@1', value: {} }, refusedTo('stands', group));
      readFrom(group, ctx); // what it published meanwhile
    }
    ctx.timer(TOLD_ALL, ctx.now);
    // Each may have closed meanwhile, or ended a run.
    for (const [name, { open }] of allRows(ctx.table('sessions')))
      if (open) ctx.send(sessionAt(name, ctx), { name: 'aos.agent/Report@1', value: {} });
    tellHotAnew(draft, ctx); // it may have been revived meanwhile
    eachWork(ctx, reportWork);
    tellSwarms(draft, 'again', ctx);
    beginRound(ctx, 'agents', (after) => tellAgain(draft, after, ctx));
    askAllUnheard(draft.depth, ctx);
  },
  'society/AgentRevived@1': (draft, _, ctx, { status }) => {
    const agent = rowKeyOf(ctx);
    keepRevived(agent, status, ctx);
    tellAgent(draft, agent, ctx);
    agentBack(draft, agent, ctx);
  },
  'society/HotRevived@1': (draft, _, ctx) => {
    tellHotAnew(draft, ctx);
    eachWork(ctx, reportWork); // they tell their sessions
  },
  'society/SwarmRevived@1': (draft, _, ctx) => tellSwarmAgain(draft, rowKeyOf(ctx), ctx),
  'society/Kept@1': (draft, { status, reason, suspended, grace_until }, ctx) => {
    if (status === 'removed') {
      // Its time of grace is over, and its maker has cleared what it left.
      const how = { reason: 'grace_over', isSaid: true } as const;
      for (const to of ['deactivated', status] as const) if (isLegal(draft.status, to)) setStatus(draft, to, how, ctx);
      return endFailedBelow(draft, ctx);
    }
    if (!isLegal(draft.status, status)) return;
    const by = suspended === null ? {} : { by: { id: suspended.by, depth: suspended.depth } };
    const grace = grace_until === null ? {} : { grace_ms: grace_until - ctx.now };
    setStatus(draft, status, { reason, ...by, ...grace, isSaid: true }, ctx);
  },
  'society/AgentBack@1': (draft, { agent_id }, ctx) => agentBack(draft, agent_id, ctx),
  'society/Report@1': (draft, { work }, ctx) => {
    if (work !== undefined) reportWork(ctx, work);
    tellBack(draft.maker, idOf(ctx), ctx); // it may have been revived while the maker had failed
    tellMaker(draft, ctx);
    tellFailedAgain(draft.maker, ctx);
    for (const [name, { open }] of allRows(ctx.table('sessions')))
      tellSession(draft.maker, { session: sessionKey(idOf(ctx), name), open }, ctx);
    // The maker may have failed behind what was asked of it and before it said so.
    if (draft.asking !== null) makerRefused(draft, 'cell_failed', ctx);
    askMakerAgain(draft, ctx);
  },
};

const TOLD_ALL = 'told_all';

/** The timer has fired: missed news is read, and reviews go on (V3). @returns whether it was the one of this file */
export function revivedTimer(draft: EntityState, name: string, ctx: EntityContext): boolean {
  if (name !== TOLD_ALL) return false;
  askBoards(draft, { for: 'boards', call: null }, ctx);
  resumeReviews(draft, ctx);
  return true;
}

/** What comes of asking agents and groups how they stand. */
export const revivedReplies: Routes<EntityState, EntityContext> = {
  // The cell of the agent had failed while that of this entity had as well, so nobody said so.
  report: (draft, agent, reply, ctx) => {
    if (isSilent(agent, reply, ctx)) childFailed(draft, { cell: entityAt(agent), code: reply.code }, ctx);
  },
  // The group did not answer: this entity is no member, or the group has failed as well (V1).
  stands: (draft, group, { code }, ctx) => {
    const departure = ctx.table('terms').get(group)?.departure_policy ?? 'permissive';
    const hasLeft = !isOfFailedCell(code);
    changeRights(draft, ctx, () => {
      ctx.table('memberships').delete(group);
      if (hasLeft) ctx.table('terms').delete(group);
    });
    if (!hasLeft) return;
    dropUntold(group, ctx);
    tellGroup(draft, group, false, ctx);
    followBoard(group, null, ctx);
    unsubscribe(group, ctx);
    archiveCopies(group, departure, ctx);
  },
};

/** An agent below was revived: it hears what this entity asked of it meanwhile, and so do the entities above. */
function agentBack(draft: EntityState, agent_id: string, ctx: EntityContext): void {
  if (failedAgentOf(agent_id, ctx)?.status === 'removed') removedItself(agent_id, ctx);
  agentLives(agent_id, ctx);
  askUnheard(agent_id, draft.depth, ctx);
  tellBack(draft.maker, agent_id, ctx);
}

/** Who called has heard that the cell has failed: no call waits any more, and the plans of the cell are gone. */
function endOpen(draft: EntityState, ctx: EntityContext): void {
  for (const [call] of [...allRows(ctx.table('calls'))]) answerCall(draft, call, refusal('cell_failed', FAILED), ctx);
  const plans = ctx.table('plans');
  for (const [plan, purpose] of [...allRows(plans)]) {
    if (isReviewing(purpose, ctx))
      plans.delete(plan); // its items are written once each, so it goes on (V3)
    else planFailed(draft, Number(plan), 'cell_failed', ctx);
  }
}

/** Tells the hot context of an agent anew what it needs while the cell of the agent has failed: what it has now. */
function tellHotAnew({ maker, declared }: EntityState, ctx: EntityContext): void {
  if (maker === null) return;
  const hot = l1At(idOf(ctx));
  ctx.send(hot, { name: 'society/TellAnew@1', value: { capabilities: declared } });
  for (const [group] of allRows(ctx.table('memberships')))
    ctx.send(hot, { name: 'society/AgentGroup@1', value: { group, member: true } });
  for (const [name, { open }] of allRows(ctx.table('sessions')))
    if (open) ctx.send(hot, { name: 'society/AgentSession@1', value: { session: sessionKey(idOf(ctx), name), open } });
}

/** The agents that one delivery tells; the rest follows before any other input. */
const TOLD_AT_ONCE = 16;

/** Tells the next agents all that they may have missed, and asks how they stand. */
export function tellAgain(draft: EntityState, after: string, ctx: EntityContext): string | undefined {
  return someRows(ctx.table('children'), { after, limit: TOLD_AT_ONCE }, (agent, { status }) => {
    keepRevived(agent, status, ctx); // it may have been revived meanwhile
    if (status === 'removed') return;
    tellAgent(draft, agent, ctx);
    askReport(agent, undefined, ctx);
  });
}

/** Tells an agent all that its maker tells it at changes. */
function tellAgent(draft: EntityState, agent: string, ctx: EntityContext): void {
  for (const what of TOLD_BELOW) ctx.send(entityAt(agent), toldBelow(draft, what, ctx));
  ctx.send(entityAt(agent), { name: 'society/Tier@1', value: { tier: tierByVerdicts(agent, ctx) } });
}
