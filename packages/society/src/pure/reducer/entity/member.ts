/** An entity as a member of a society: its operations on memory, events and groups, and the events that these take. */

import type { EventHandlers } from '@reprise/kernel/define';
import {
  type EntityState,
  type entityTables,
  GROUP,
  type memberEvents,
  type SocietyToolName,
} from '../../contracts/index.js';
import { actorOfCall } from '../call/actors.js';
import { goOnWith } from '../call/answers.js';
import { FAILED, isOfFailedCell, type OperationsOf, refuse } from '../call/operations.js';
import { callOfPlan } from '../call/plans.js';
import { type Replied, tagOf } from '../call/replies.js';
import { type EntityContext, idOf, rowKeyOf } from '../context/entity.js';
import { askBoards, followBoard, takeNews, waitsForNews } from '../inbox/board-reading.js';
import { notice, polled, subscribe, unsubscribe } from '../inbox/inbox.js';
import { published } from '../inbox/published.js';
import { hotOperations, l1Told } from '../memory/hot.js';
import { archiveCopies, memoryEnded, memoryOperations } from '../memory/memory.js';
import { tierChanged, trustOperations } from '../memory/trust.js';
import { changeRights } from '../rights/rights.js';

export const memberOperations: OperationsOf<Extract<SocietyToolName, `${'memory' | 'events' | 'group'}_${string}`>> = {
  ...hotOperations,
  ...memoryOperations,
  ...trustOperations,
  events_poll: {
    run: (draft: EntityState, args, call, ctx) =>
      waitsForNews(draft, call, ctx) ? undefined : polled(args, call, ctx),
  },
  group_emcon: {
    group: ({ group_id }) => group_id,
    run: (_draft: EntityState, { group_id, on }, call, ctx) => {
      const tag = tagOf('emcon', `${on ? '1' : '0'}.${call}.${group_id}`);
      ctx.send(
        [GROUP, group_id],
        { name: 'society/Emcon@1', value: { on, actor: actorOfCall(call, ctx) } },
        { reply: true, tag },
      );
      return undefined;
    },
  },
};

export const memberHandlers: EventHandlers<EntityState, typeof memberEvents, typeof entityTables> = {
  'society/GroupTerms@1': (draft, { group, terms, departure }, ctx) => {
    if (terms !== null && ctx.table('memberships').get(group) === undefined) return;
    changeRights(draft, ctx, () => {
      if (terms === null) ctx.table('terms').delete(group);
      else ctx.table('terms').set(group, terms);
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

/** The group has taken a call of its emergency mode, or has not. */
export function emconSet(draft: EntityState, about: string, { code }: Replied, ctx: EntityContext): void {
  const [on, call = '', ...rest] = about.split('.');
  goOnWith(draft, call, ctx, () => {
    if (code !== '') refuse(isOfFailedCell(code) ? 'cell_failed' : code);
    return { value: { group_id: rest.join('.'), emcon: on === '1' } };
  });
}

/** A hot context takes no such event: its cell has failed, or it is that of another agent. */
export function hotRefused(draft: EntityState, call: string, { code }: Replied, ctx: EntityContext): void {
  goOnWith(draft, call, ctx, () => (isOfFailedCell(code) ? refuse('cell_failed', FAILED) : refuse('agent_unknown')));
}
