/** What an entity hears of returns: of its own, of those of its agents, and of the reviews of these. */
import type { EventHandlers } from '@reprise/kernel/define';
import { type EntityState, type entityTables, returnNews } from '../contracts/index.js';
import { callOfPlan } from './calls.js';
import { returnAnswered, returnProved, synced } from './returns.js';
import { arrived, itemCopied, stagingCompared, stagingFilled } from './reviews.js';

/** The events about returns that an entity takes. */
export const returnEvents = returnNews;

/** Their handlers. */
export const returnHandlers: EventHandlers<EntityState, typeof returnEvents, typeof entityTables> = {
  'society/ReturnProved@1': (draft, verdict, ctx) => returnProved(draft, callOfPlan(ctx), verdict, ctx),
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
