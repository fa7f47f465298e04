/** What an entity hears of swarms: of those that it created, of the one that made it, and of the jobs of its work. */

import type { EventHandlers } from '@reprise/kernel/define';
import { jobEvents } from '@reprise/org/contracts';
import {
  argsOf,
  type EntityState,
  type entityTables,
  type returnNews,
  swarmCalls,
  swarmTells,
} from '../../contracts/index.js';
import { answerCall, openCall } from '../call/answers.js';
import type { EntityContext } from '../context/entity.js';
import { returnAnswered, returnProved, synced } from '../staging/returns.js';
import { arrived, itemCopied, stagingCompared, stagingFilled } from '../staging/reviews.js';
import { swarmChecked, swarmFormed } from './swarm-operations.js';
import { jobNews, swarmOver, takeWork } from './work.js';

export const swarmEventsOfEntity = {
  ...swarmTells,
  ...jobEvents,
} as const;

export const swarmHandlers: EventHandlers<EntityState, typeof swarmEventsOfEntity, typeof entityTables> = {
  'society/SwarmChecked@1': (draft, checked, ctx) => swarmChecked(draft, checked, ctx),
  'society/SwarmFormed@1': (draft, formed, ctx) => swarmFormed(draft, formed, ctx),
  'society/Worker@1': (_draft, { agent_id, entry }, ctx) => {
    ctx.table('workers').set(agent_id, entry);
  },
  'society/SwarmTold@1': (draft, { swarm_id, call, ...answer }, ctx) => {
    requireCalled(call, swarm_id, ctx);
    answerCall(draft, call, answer, ctx);
  },
  'society/SwarmParked@1': (_draft, { swarm_id, call }, ctx) => {
    requireCalled(call, swarm_id, ctx);
    const origin = openCall(call, ctx)?.origin;
    if (origin?.kind !== 'owner') return;
    const { to, session, call_id, step_epoch } = origin;
    ctx.send([to[0], to[1]], { name: 'aos.agent/OwnerParked@1', value: { session, call_id, step_epoch } });
  },
  'society/Work@1': (draft, work, ctx) => takeWork(draft, work, ctx),
  'society/SwarmOver@1': (draft, _, ctx) => swarmOver(draft, ctx),
  'work/JobChanged@1': (draft, news, ctx) => jobNews(draft, news, ctx),
};

/** Only the swarm that a call names answers it. */
function requireCalled(call: string, swarm_id: string, ctx: EntityContext): void {
  const row = openCall(call, ctx);
  const isIts = row !== undefined && isSwarmTool(row.name) && argsOf(row, row.name).swarm_id === swarm_id;
  if (!isIts) ctx.reject('no_call');
}

function isSwarmTool(name: string): name is keyof typeof swarmCalls {
  return Object.hasOwn(swarmCalls, name);
}

export const returnHandlers: EventHandlers<EntityState, typeof returnNews, typeof entityTables> = {
  'society/ReturnProved@1': (draft, verdict, ctx) => returnProved(draft, verdict, ctx),
  'society/Stage@1': (draft, arrival, ctx, agent) => {
    // An agent of this entity speaks for itself; one of its swarms passes on what an agent of the swarm says.
    if (agent !== null && ctx.rowKey !== arrival.agent_id) ctx.reject('not_yours');
    arrived(draft, arrival, ctx);
  },
  'society/Filled@1': (draft, news, ctx, row) => stagingFilled(draft, news, row, ctx),
  'society/Compared@1': (draft, news, ctx) => stagingCompared(draft, news, ctx),
  'society/Copied@1': (draft, news, ctx) => itemCopied(draft, news, ctx),
  'society/Staged@1': (draft, told, ctx) => returnAnswered(draft, told, ctx),
  'society/Synced@1': (_draft, link, ctx) => synced(link, ctx),
};
