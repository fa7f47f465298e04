/** What an entity hears of swarms: of those that it created, of the one that made it, and of the jobs of its work. */
import { by, type EventHandlers, from, type ReducerContext } from '@reprise/kernel/define';
import { jobEvents } from '@reprise/work/contracts';
import { swarmChecked as checked, type EntityState, type entityTables, swarmTells } from '../contracts/index.js';
import { answerCall, openCall } from './answers.js';
import { callOfPlan } from './call-plans.js';
import { tableOf } from './entity-context.js';
import { jobNews, swarmOver, takeWork } from './entity-work.js';
import { swarmChecked, swarmFormed } from './swarm-operations.js';

/** The events about swarms that an entity takes. */
export const swarmEventsOfEntity = {
  ...swarmTells,
  ...jobEvents,
  'society/SwarmChecked@1': from(checked, by.ownPlan),
} as const;

/** Their handlers. */
export const swarmHandlers: EventHandlers<EntityState, typeof swarmEventsOfEntity, typeof entityTables> = {
  'society/SwarmChecked@1': (draft, { code, value }, ctx) => {
    swarmChecked(draft, callOfPlan(ctx), { code, problem: value }, ctx);
  },
  'society/SwarmFormed@1': (draft, formed, ctx) => swarmFormed(draft, formed, ctx),
  'society/Worker@1': (_draft, { agent_id, entry }, ctx) => {
    tableOf(ctx, 'workers').set(agent_id, entry);
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
function requireCalled(call: string, swarm_id: string, ctx: ReducerContext): void {
  const args = openCall(call, ctx)?.args as { readonly swarm_id?: unknown } | undefined;
  if (args?.swarm_id !== swarm_id) ctx.reject('no_call');
}
