/** An entity as a member of a society: its operations on memory, events and groups, and the events that these take. */
import type { EventHandlers, ReducerContext } from '@reprise/kernel/define';
import { type EntityState, type entityTables, GROUP, type memberEvents, memoryToolCalls } from '../contracts/index.js';
import { actorOfCall } from './actors.js';
import { answerCall, openCall } from './answers.js';
import { askBoards, followBoard, takeNews, waitsForNews } from './board-reading.js';
import { callOfPlan } from './call-plans.js';
import { rowKeyOf } from './caller.js';
import { idOf, tableOf } from './entity-context.js';
import { hotOperations, hotRefused, l1Told, readHot } from './hot.js';
import { notice, polled, subscribe, unsubscribe } from './inbox.js';
import { memberTable } from './member-context.js';
import { archiveCopies, memoryEnded, memoryOperations } from './memory.js';
import { isOfFailedCell, type Operations, operation, refusal } from './operations.js';
import { published } from './published.js';
import { changeRights } from './rights.js';
import { tierChanged, trustOperations } from './trust.js';

/** The operations of a member. */
export const memberOperations: Operations = {
  ...hotOperations,
  ...memoryOperations,
  ...trustOperations,
  events_poll: operation(memoryToolCalls.events_poll, {
    run: (draft: EntityState, args, call, ctx) =>
      waitsForNews(draft, call, ctx) ? undefined : polled(args, call, ctx),
  }),
  group_emcon: operation(memoryToolCalls.group_emcon, {
    group: ({ group_id }) => group_id,
    run: (_draft: EntityState, { group_id, on }, call, ctx) => {
      const tag = `${EMCON_TAG}${on ? '1' : '0'}.${call}.${group_id}`;
      ctx.send(
        [GROUP, group_id],
        { name: 'society/Emcon@1', value: { on, actor: actorOfCall(call, ctx) } },
        { reply: true, tag },
      );
      return undefined;
    },
  }),
};

/** The handlers of a member's events. */
export const memberHandlers: EventHandlers<EntityState, typeof memberEvents, typeof entityTables> = {
  'society/GroupTerms@1': (draft, { group, terms, departure }, ctx) => {
    if (terms !== null && tableOf(ctx, 'memberships').get(group) === undefined) return;
    changeRights(draft, ctx, () => {
      if (terms === null) memberTable(ctx, 'terms').delete(group);
      else memberTable(ctx, 'terms').set(group, terms);
    });
    followBoard(group, terms?.board ?? null, ctx);
    if (terms !== null) return;
    unsubscribe(group, ctx);
    if (draft.status !== 'removed') archiveCopies(group, departure, ctx); // it may move nothing any more
  },
  'society/Notice@1': (_draft, { event, group, payload }, ctx) => {
    notice({ event, payload, push: true, group, agent: idOf(ctx) }, ctx);
  },
  'society/News@1': (_draft, news, ctx) => takeNews(news, ctx),
  'society/TakeNews@1': (draft, _, ctx) => {
    askBoards(draft, { for: 'boards', call: null }, ctx);
  },
  'society/NewsAsked@1': (draft, { call, answered }, ctx) => {
    if (answered) return goOn(draft, call, ctx);
    ctx.send(ctx.address, { name: 'society/NewsAsked@1', value: { call, answered: true } });
  },
  'society/L1Told@1': (draft, told, ctx) => l1Told(draft, told, ctx),
  'flow/Published@1': (draft, { name, value }, ctx) => published(draft, rowKeyOf(ctx), name, value, ctx),
  'society/MemoryEnded@1': (draft, ended, ctx) => {
    if (ended.call !== null) memoryEnded(draft, ended, callOfPlan(ctx), ctx);
  },
  'society/Subscribe@1': (draft, { subscriptions }, ctx) => {
    subscribe(draft, subscriptions, ctx);
  },
  'society/Tier@1': (draft, { tier }, ctx) => tierChanged(draft, tier, ctx),
};

/** A call that waited for the news of the groups goes on. */
function goOn(draft: EntityState, call: string, ctx: ReducerContext): void {
  const row = openCall(call, ctx);
  if (row === undefined) return;
  if (row.name === 'events_poll') answerCall(draft, call, polled(row.args, call, ctx), ctx);
  else readHot(idOf(ctx), call, ctx);
}

/** Takes the answer of a group or a hot context. @returns whether the tag was one of these operations' */
export function memberAnswered(
  draft: EntityState,
  { tag = '', outcome, code = '' }: { readonly tag?: string; readonly outcome: string; readonly code?: string },
  ctx: ReducerContext,
): boolean {
  if (!tag.startsWith(EMCON_TAG)) return hotRefused(draft, tag, code, ctx);
  const [, on, call = '', ...rest] = tag.split('.');
  const emcon = on === '1';
  const group_id = rest.join('.');
  const answer =
    outcome === 'accepted'
      ? { value: { group_id, emcon } }
      : refusal(isOfFailedCell(code) ? 'cell_failed' : code || 'not_authorized');
  answerCall(draft, call, answer, ctx);
  return true;
}

const EMCON_TAG = 'emcon.';
