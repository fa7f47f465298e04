/**
 * An entity goes on after its own cell had failed and was revived. What it was told meanwhile is lost, and so is what its
 * agents told it: it asks both again, in the frame of its revival.
 *
 * Invariants
 * V1  What was taken from it meanwhile holds before any later input: its maker and its groups answer in the same cascade,
 *     and the kernel then ends what is open and no longer permitted.
 * V2  Nothing here gives a right: the answers are the news that was lost.
 * V3  What waited for a plan or an answer of that time ends, or begins again.
 */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { EventHandlers, ReducerContext } from '@reprise/kernel/define';
import { failedJob } from '@reprise/work/contracts';
import {
  type AgentEntry,
  type EntityState,
  entityAt,
  type entityTables,
  type KeptForFailed,
  type revivedNews,
  SOCIETY_BOUNDS,
  swarmAt,
} from '../contracts/index.js';
import { makerRefused } from './agent-rights.js';
import { answerCall } from './answers.js';
import { rowKeyOf } from './caller.js';
import { clearLater } from './clearing.js';
import { idOf, tableOf } from './entity-context.js';
import { jobNews } from './entity-work.js';
import {
  agentFailed,
  agentLives,
  failedAgentOf,
  keptFor,
  tellBack,
  tellFailedAgain,
  tellSession,
  watchFailed,
} from './failed-agents.js';
import { endFailedBelow } from './failed-children.js';
import { plansLost } from './lost-plans.js';
import { isOfFailedCell, refusal } from './operations.js';
import { callsOfReviews } from './reviews.js';
import { askMakerAgain, handedOnBy } from './rights.js';
import { sessionKey } from './session-rights.js';
import { SWARM_GONE_TAG, setStatus, tellAgain, tellAllAgain, tellMaker, tellSwarmAgain, timeAgain } from './status.js';
import { isLegal } from './status-table.js';
import { entriesOf } from './table-rows.js';
import { tierByVerdicts } from './trust.js';
import { askGroups } from './unasked.js';
import { askUnheard } from './unheard.js';
import { hasWork, reportWorks } from './works.js';

/** The handlers of what revived cells ask and are answered. */
export const revivedHandlers: EventHandlers<EntityState, typeof revivedNews, typeof entityTables> = {
  'society/AskStanding@1': (draft, { started }, ctx, row) => {
    if (row === null) tellSwarmAgain(swarmAt(rowKeyOf(ctx)), draft, handedOnBy(draft, ctx), ctx);
    else tellStanding(draft, row, started, ctx);
  },
  'society/AgentBack@1': (draft, { agent_id }, ctx) => agentBack(draft, agent_id, ctx),
  'society/Kept@1': (draft, kept, ctx) => carryOut(draft, kept, ctx),
  'society/Report@1': (draft, { work }, ctx) => report(draft, work, ctx),
  'society/AskReports@1': (_draft, { after }, ctx) => askReports(after, ctx),
};

/** This entity was revived. */
export function revived(draft: EntityState, ctx: ReducerContext): void {
  askMaker(draft, ctx);
  if (!draft.started) return;
  askGroups(ctx);
  tellAllAgain(draft, ctx);
  askBelow(ctx);
  askOwnWork(ctx);
  timeAgain(draft, ctx);
  watchFailed(ctx);
  clearLater(ctx);
  plansLost(draft, ctx);
  callsLost(draft, ctx);
}

/** Its maker says again what it may hand on, how it stands itself, and what it did for this agent. */
function askMaker(draft: EntityState, ctx: ReducerContext): void {
  const { maker, started } = draft;
  if (maker === null) return;
  ctx.send([maker[0], maker[1]], { name: 'society/AskStanding@1', value: { started } });
  if (draft.asking !== null) makerRefused(draft, 'cell_failed', ctx); // the answer was lost
  askMakerAgain(draft, ctx);
}

/** Its agents and swarms say again how they stand. */
function askBelow(ctx: ReducerContext): void {
  for (const [swarm] of tableOf(ctx, 'swarms').range())
    ctx.send(swarmAt(swarm), REPORT, { reply: 'refusal', tag: `${SWARM_GONE_TAG}${swarm}` });
  askReports('', ctx);
}

const REPORT = { name: 'society/Report@1', value: { work: null } } as const;

/** The agents that one delivery asks; the rest follows before any other input. */
const ASKED_AT_ONCE = 64;

/** Begins the tag of the question how an agent stands. */
export const REPORT_TAG = 'report.';

function askReports(after: string, ctx: ReducerContext): void {
  const rows = tableOf(ctx, 'children').range({ ...(after === '' ? {} : { after }), limit: ASKED_AT_ONCE });
  for (const [id, { status }] of rows)
    if (status !== 'removed') ctx.send(entityAt(id), REPORT, { reply: 'refusal', tag: `${REPORT_TAG}${id}` });
  const last = rows.at(-1)?.[0];
  if (rows.length === ASKED_AT_ONCE && last !== undefined)
    ctx.send(ctx.address, { name: 'society/AskReports@1', value: { after: last } });
}

/** An agent was asked how it stands, and its cell has failed meanwhile. */
export function reportRefused(draft: EntityState, tag: string, code: string, ctx: ReducerContext): void {
  const agent_id = tag.slice(REPORT_TAG.length);
  const known = tableOf(ctx, 'children').get(agent_id);
  if (known === undefined || !isOfFailedCell(code) || failedAgentOf(agent_id, ctx) !== undefined) return;
  agentFailed({ agent_id, code, known }, draft.maker, ctx);
}

/** Its sessions and jobs say again how they stand. */
function askOwnWork(ctx: ReducerContext): void {
  for (const [name, { open }] of tableOf(ctx, 'sessions').range({ limit: SOCIETY_BOUNDS.sessions }))
    if (open) ctx.send([SESSION_REDUCER, sessionKey(idOf(ctx), name)], { name: 'aos.agent/Report@1', value: {} });
  reportWorks(ctx);
}

/** Calls that waited for an answer of another cell are answered: what was said meanwhile did not arrive. */
function callsLost(draft: EntityState, ctx: ReducerContext): void {
  const going = callsOfReviews(ctx);
  for (const [call] of entriesOf(tableOf(ctx, 'calls')))
    if (!going.includes(call)) answerCall(draft, call, refusal('cell_failed', { cell: 'failed' }), ctx);
}

/** Answers an agent of this entity that was revived. */
function tellStanding(draft: EntityState, { status }: AgentEntry, started: boolean, ctx: ReducerContext): void {
  const id = rowKeyOf(ctx);
  const to = entityAt(id);
  const isBeginning = tableOf(ctx, 'registering').get(id) !== undefined;
  if (!started && !isBeginning) ctx.send(to, { name: 'society/Start@1', value: {} });
  const kept = keptFor(id, status, ctx);
  agentBack(draft, id, ctx);
  if (kept !== undefined) ctx.send(to, { name: 'society/Kept@1', value: kept });
  tellAgain(to, draft, handedOnBy(draft, ctx), ctx);
  ctx.send(to, { name: 'society/Tier@1', value: { tier: tierByVerdicts(id, ctx) } });
}

/** An agent below was revived: it hears what this entity asked of it meanwhile, and so do the entities above. */
function agentBack(draft: EntityState, agent_id: string, ctx: ReducerContext): void {
  agentLives(agent_id, ctx);
  askUnheard(agent_id, draft.depth, ctx);
  tellBack(draft.maker, agent_id, ctx);
}

/** Does itself what its maker did for it while its cell had failed. */
function carryOut(draft: EntityState, kept: KeptForFailed, ctx: ReducerContext): void {
  const { status, suspended, grace_until } = kept;
  const reason = kept.reason;
  if (status === 'removed') {
    endFor(draft, ctx);
    return endFailedBelow(draft, ctx);
  }
  if (draft.status === status || !isLegal(draft.status, status)) return;
  const by = suspended === null ? {} : { by: { id: suspended.by, depth: suspended.depth } };
  const grace = grace_until === null ? {} : { grace_ms: grace_until - ctx.now };
  setStatus(draft, status, { reason, ...by, ...grace }, ctx);
}

/** Its time of grace is over, and its maker has cleared what it left. */
function endFor(draft: EntityState, ctx: ReducerContext): void {
  if (isLegal(draft.status, 'deactivated')) setStatus(draft, 'deactivated', { reason: 'grace_over' }, ctx);
  if (isLegal(draft.status, 'removed')) setStatus(draft, 'removed', { reason: 'grace_over' }, ctx);
}

/** The maker of this agent was revived: it hears again what this agent told it. */
function report(draft: EntityState, work: number | null, ctx: ReducerContext): void {
  if (!draft.started) return;
  tellMaker(draft, ctx);
  tellFailedAgain(draft.maker, ctx);
  for (const [name, { open }] of tableOf(ctx, 'sessions').range({ limit: SOCIETY_BOUNDS.sessions }))
    tellSession(draft.maker, { session: sessionKey(idOf(ctx), name), open }, ctx);
  askMakerAgain(draft, ctx);
  if (work !== null && !hasWork(work, ctx)) jobNews(draft, failedJob(work), ctx);
}
