/**
 * A swarm goes on after its own cell had failed and was revived: it asks its creator and its agents what it missed. One that
 * had not formed ends: the call that creates it was answered when it failed.
 */
import type { EventHandlers, ReducerContext } from '@reprise/kernel/define';
import { ENTITY, entityAt, type revivedNewsOfSwarm, type SwarmState, type swarmTables } from '../contracts/index.js';
import { agentLives, failedAgentOf, keptFor, tellBack, tellFailedAgain, watchFailed } from './failed-agents.js';
import { memberFailed } from './failed-members.js';
import { isOfFailedCell } from './operations.js';
import { handedOnTo } from './rights.js';
import { failing, memberOr, membersOf, swarmTable, takePurpose } from './swarm-context.js';
import { isUnbegun, keyed, refuse } from './swarm-forming.js';
import { composed } from './swarm-strategies.js';
import { openWork } from './swarm-tasks.js';
import { tellWorkerAgain } from './swarm-workers.js';
import { entriesOf } from './table-rows.js';

/** The handlers of what revived cells ask and are answered. */
export const revivedSwarmHandlers: EventHandlers<SwarmState, typeof revivedNewsOfSwarm, typeof swarmTables> = {
  'society/AskStanding@1': (draft, { started }, ctx, member) => tellStanding(draft, member, started, ctx),
  'society/Report@1': (draft, _, ctx) => {
    for (const [key, row] of membersOf(ctx)) tellWorkerAgain(draft, key, row, ctx);
    tellFailedAgain(entityAt(draft.creator), ctx);
  },
};

/** This swarm was revived. */
export function swarmRevived(draft: SwarmState, ctx: ReducerContext): void {
  if (isUnbegun(draft, ctx)) return refuse(draft, 'cell_failed', ctx);
  if (draft.status === 'creating' || draft.status === 'registering') failing(draft, 'cell_failed');
  ctx.send(entityAt(draft.creator), { name: 'society/AskStanding@1', value: { started: true } });
  for (const [plan] of entriesOf(swarmTable(ctx, 'plans'))) planFailed(draft, Number(plan), 'cell_failed', ctx);
  askMembers(ctx);
}

/** A plan of this swarm failed as a plan, or ended with its cell. */
export function planFailed(draft: SwarmState, plan: number, given: string, ctx: ReducerContext): void {
  const purpose = takePurpose(ctx, plan);
  const code = given.slice(0, 96);
  if (purpose?.kind === 'key') keyed(draft, purpose.member, { code, key: null }, ctx);
  else if (purpose !== undefined) composed(draft, purpose, { text_ref: null, code }, ctx);
}

/** Begins the tag of the question how an agent of the swarm stands. */
export const MEMBER_REPORT_TAG = 'report.';

/** Its agents say again how they stand, and how their work does. */
function askMembers(ctx: ReducerContext): void {
  for (const [, { agent_id, phase, task }] of membersOf(ctx)) {
    if (agent_id === null || phase === 'keyed' || phase === 'made') continue;
    const event = { name: 'society/Report@1', value: { work: openWork(task, ctx) } };
    ctx.send(entityAt(agent_id), event, { reply: 'refusal', tag: `${MEMBER_REPORT_TAG}${agent_id}` });
  }
  watchFailed(ctx);
}

/** An agent of the swarm was asked how it stands, and its cell has failed meanwhile. */
export function memberSilent(draft: SwarmState, tag: string, code: string | null, ctx: ReducerContext): void {
  const agent_id = tag.slice(MEMBER_REPORT_TAG.length);
  if (code === null || !isOfFailedCell(code) || failedAgentOf(agent_id, ctx) !== undefined) return;
  memberFailed(draft, { cell: [ENTITY, agent_id], code }, ctx);
}

/** Answers an agent of the swarm that was revived; what its creator knows follows from there. */
function tellStanding(draft: SwarmState, member: string, started: boolean, ctx: ReducerContext): void {
  const { agent_id, status, phase } = memberOr(ctx, member);
  if (agent_id === null) return;
  const to = entityAt(agent_id);
  if (!started && phase !== 'keyed' && phase !== 'made') ctx.send(to, { name: 'society/Start@1', value: {} });
  const kept = keptFor(agent_id, status, ctx);
  agentLives(agent_id, ctx);
  tellBack(entityAt(draft.creator), agent_id, ctx);
  if (kept !== undefined) ctx.send(to, { name: 'society/Kept@1', value: kept });
  ctx.send(to, { name: 'society/Above@1', value: handedOnTo(ctx) });
  ctx.send(entityAt(draft.creator), { name: 'society/AskStanding@1', value: { started: true } });
}
