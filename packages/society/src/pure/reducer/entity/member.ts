import { GROUP } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { SocietyToolName } from '../../contracts/entity-parts.js';
import type { memberEvents } from '../../contracts/group/member.js';
import { actorOfCall, callOfPlan, goOnWith } from '../call/answers.js';
import { FAILED, isOfFailedCell, type OperationsOf, refuse } from '../call/operations.js';
import { type Routes, tagOf } from '../call/replies.js';
import { type EntityContext, type EntityHandlers, idOf, rowKeyOf } from '../context/entity.js';
import { askBoards, followBoard, takeNews, waitsForNews } from '../inbox/board-reading.js';
import { notice, polled, subscribe, unsubscribe } from '../inbox/inbox.js';
import { published } from '../inbox/published.js';
import { hotOperations, l1Told } from '../memory/hot.js';
import { archiveCopies, memoryEnded, memoryOperations } from '../memory/memory.js';
import { trustOperations } from '../memory/trust.js';
import { changeRights } from '../rights/rights.js';

export const memberOperations: OperationsOf<Extract<SocietyToolName, `${'memory' | 'events' | 'group'}_${string}`>> = {
  ...hotOperations,
  ...memoryOperations,
  ...trustOperations,
  events_poll: (draft, args, call, ctx) => (waitsForNews(draft, call, ctx) ? undefined : polled(args, call, ctx)),
  group_emcon: (_draft, { group_id, on }, call, ctx) => {
    const tag = tagOf('emcon', `${on ? '1' : '0'}.${call}.${group_id}`);
    const event = { name: 'society/Emcon@1', value: { on, actor: actorOfCall(call, ctx) } };
    ctx.send([GROUP, group_id], event, { reply: true, tag });
    return undefined;
  },
};

export const memberHandlers: EntityHandlers<typeof memberEvents> = {
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
  'society/L1Told@1': l1Told,
  'flow/Published@1': (draft, { name, value }, ctx) => published(draft, rowKeyOf(ctx), name, value, ctx),
  'society/MemoryEnded@1': (draft, ended, ctx) => {
    if (ended.call !== null) memoryEnded(draft, ended, callOfPlan(ctx), ctx);
  },
  'society/Subscribe@1': (draft, { subscriptions }, ctx) => {
    subscribe(draft, subscriptions, ctx);
  },
  // The maker's verdicts give another tier: the rights of this agent follow, in this frame.
  'society/Tier@1': (draft, { tier }, ctx) => {
    changeRights(draft, ctx, () => {
      draft.tier = tier;
    });
  },
};

/** What comes of asking a group for its emergency mode, and a hot context for its content. */
export const memberReplies: Routes<EntityState, EntityContext> = {
  emcon: (draft, about, { code }, ctx) => {
    const [on, call = '', ...rest] = about.split('.');
    goOnWith(draft, call, ctx, () => {
      if (code !== '') refuse(isOfFailedCell(code) ? 'cell_failed' : code);
      return { value: { group_id: rest.join('.'), emcon: on === '1' } };
    });
  },
  // A hot context takes no such event: its cell has failed, or it is that of another agent.
  hot: (draft, call, { code }, ctx) => {
    goOnWith(draft, call, ctx, () => (isOfFailedCell(code) ? refuse('cell_failed', FAILED) : refuse('agent_unknown')));
  },
};
