/** What an entity hears of returns: of its own, of those of its agents, and of the reviews of these. */
import type { EventHandlers } from '@reprise/kernel/define';
import { type EntityState, returnNews } from '../contracts/index.js';
import { callOfPlan } from './call-plans.js';
import { returnAnswered, returnProved, synced } from './returns.js';
import { arrived, itemCopied, stagingCompared, stagingFilled } from './reviews.js';

/** The events about returns that an entity takes. */
export const returnEvents = returnNews;

/** Their handlers. */
export const returnHandlers: EventHandlers<EntityState, typeof returnEvents> = {
  'society/ReturnProved@1': (draft, verdict, ctx) => returnProved(draft, callOfPlan(ctx), verdict, ctx),
  'society/Stage@1': (draft, arrival, ctx) => arrived(draft, arrival, ctx),
  'society/Filled@1': (draft, news, ctx) => stagingFilled(draft, news, ctx),
  'society/Compared@1': (draft, news, ctx) => stagingCompared(draft, news, ctx),
  'society/Copied@1': (draft, news, ctx) => itemCopied(draft, news, ctx),
  'society/Staged@1': (draft, told, ctx) => returnAnswered(draft, told, ctx),
  'society/Synced@1': (draft, link, ctx) => synced(draft, link, ctx),
};
