/** Agents of a swarm whose cells have failed: the swarm made them, so it acts for them. */

import { type EventHandlers, from } from '@reprise/kernel/define';
import { Refused } from '@reprise/org/contracts';
import type { failedNewsOfSwarm } from '../../contracts/agent/failed.js';
import { ENTITY, entityAt } from '../../contracts/cell/names.js';
import { swarmAgent } from '../../contracts/cell/senders.js';
import { entityNews } from '../../contracts/entity/entity.js';
import type { SwarmState, swarmTables } from '../../contracts/swarm/swarm.js';
import type { Replied } from '../call/replies.js';
import { actForFailed, agentFailed, agentLives, agentSession, isEnd, isSilent } from '../status/failed-agents.js';
import { endedItself } from '../status/holds.js';
import { changeMember, coordinatorOver, isOver, memberOr, type SwarmContext } from './context.js';
import { isUnbegun, joined, refuseSwarm } from './forming.js';
import { taskOfFailed } from './tasks.js';
import { deputyOf, endFailedMember, tellWorker } from './workers.js';

/** What agents of a swarm tell of themselves: as they tell the entity that makes them. */
export const childNewsOfSwarm = {
  'society/ChildStatus@1': from(entityNews['society/ChildStatus@1'].schema, swarmAgent),
} as const;

type MemberNews = typeof failedNewsOfSwarm & typeof childNewsOfSwarm;

export const failedMemberHandlers: EventHandlers<SwarmState, MemberNews, typeof swarmTables> = {
  'society/AgentSession@1': (_draft, news, ctx, member) => {
    agentSession(memberOr(ctx, member).agent_id ?? ctx.reject('no_member'), news, ctx);
  },
  'society/AgentFailed@1': (draft, failed, ctx) => {
    ctx.send(entityAt(draft.creator), { name: 'society/AgentFailed@1', value: failed });
  },
  'society/ForFailed@1': (draft, asked, ctx) => {
    actForFailed(deputyOf(draft, ctx), asked, ctx);
  },
  'society/FailedEnded@1': (draft, { agent_id }) => coordinatorOver(draft, agent_id),
  'society/ChildStatus@1': (draft, { status, expires_at, grace_until }, ctx, member) => {
    const changed = changeMember(ctx, member, { status, expires_at, grace_until });
    const { agent_id } = changed;
    tellWorker(draft, member, changed, ctx);
    if (agent_id === null) return;
    agentLives(agent_id, ctx);
    if (isEnd(status)) endedItself(agent_id, ctx);
  },
};

/** The cell of a member has failed: its task fails with it. */
export function memberFailed(
  draft: SwarmState,
  { cell, code }: { readonly cell: readonly string[]; readonly code: string },
  ctx: SwarmContext,
): void {
  const [reducer, agent_id = ''] = cell;
  const member = reducer === ENTITY ? ctx.table('agents').get(agent_id) : undefined;
  if (member === undefined) return;
  if (isUnbegun(draft, ctx)) return refuseSwarm(draft, new Refused('cell_failed'), ctx);
  agentFailed({ agent_id, code, known: memberOr(ctx, member) }, entityAt(draft.creator), ctx);
  joined(draft, agent_id, 'cell_failed', ctx); // of a swarm that forms: the group waits for no failed member
  taskOfFailed(draft, member, ctx);
  if (isOver(draft)) endFailedMember(draft, agent_id, ctx);
}

/** A member does not say how it stands: its cell had failed while that of this swarm had as well. */
export function memberSilent(draft: SwarmState, agent_id: string, reply: Replied, ctx: SwarmContext): void {
  if (isSilent(agent_id, reply, ctx)) memberFailed(draft, { cell: entityAt(agent_id), code: reply.code }, ctx);
}
