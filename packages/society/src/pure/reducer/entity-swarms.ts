/** What an entity hears of swarms: of those that it created, of the one that made it, and of the jobs of its work. */
import type { EventHandlers, ReducerContext } from '@reprise/kernel/define';
import { jobEvents } from '@reprise/work/contracts';
import { swarmChecked as checked, type EntityState, SWARM, swarmTells } from '../contracts/index.js';
import { answerCall, openCall } from './answers.js';
import { callOfPlan } from './call-plans.js';
import { jobNews, swarmOver, takeWork } from './entity-work.js';
import { swarmChecked, swarmFormed } from './swarm-operations.js';

/** The events about swarms that an entity takes. */
export const swarmEventsOfEntity = { ...swarmTells, ...jobEvents, 'society/SwarmChecked@1': checked } as const;

/** Their handlers. */
export const swarmHandlers: EventHandlers<EntityState, typeof swarmEventsOfEntity> = {
  'society/SwarmChecked@1': (draft, { code, value }, ctx) => {
    swarmChecked(draft, callOfPlan(ctx), { code, problem: value }, ctx);
  },
  'society/SwarmFormed@1': (draft, formed, ctx) => {
    if (!isSwarm(ctx, formed.swarm_id)) ctx.reject('not_yours');
    swarmFormed(draft, formed, ctx);
  },
  'society/SwarmTold@1': (draft, { call, ...answer }, ctx) => {
    requireCalled(call, ctx);
    answerCall(draft, call, answer, ctx);
  },
  'society/SwarmParked@1': (_draft, { call }, ctx) => {
    requireCalled(call, ctx);
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
function requireCalled(call: string, ctx: ReducerContext): void {
  const args = openCall(call, ctx)?.args as { readonly swarm_id?: unknown } | undefined;
  if (args === undefined || !isSwarm(ctx, args.swarm_id)) ctx.reject('no_call');
}

function isSwarm({ sender }: ReducerContext, swarm: unknown): boolean {
  return sender?.length === 2 && sender[0] === SWARM && sender[1] === swarm;
}
