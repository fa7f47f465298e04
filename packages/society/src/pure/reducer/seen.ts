/** The gate has let an entity see stores: it takes news, asks boards, or begins a run with the first words of items. */
import type { EventHandlers } from '@reprise/kernel/define';
import type { EntityState, entityTables, seenNews } from '../contracts/index.js';
import { readBoards } from './board-reading.js';
import { callOfPlan } from './call-plans.js';
import { wordsForRun } from './news.js';
import { takeItemNews } from './published.js';
import { answerReturn } from './returns.js';
import { deliverInput } from './sessions.js';

/** The handler of what was seen. */
export const seenHandlers: EventHandlers<EntityState, typeof seenNews, typeof entityTables> = {
  'society/Seen@1': (draft, { seen, purpose }, ctx) => {
    callOfPlan(ctx); // the plan is over
    switch (purpose.for) {
      case 'news':
        return takeItemNews(draft, purpose.news, seen, ctx);
      case 'boards':
        readBoards(seen, ctx);
        if (purpose.call !== null)
          ctx.send(ctx.address, { name: 'society/NewsAsked@1', value: { call: purpose.call, answered: false } });
        return;
      case 'input':
        readBoards(seen, ctx);
        return ctx.send(ctx.address, { name: 'society/SendSoon@1', value: purpose.send });
      case 'return':
        return answerReturn(draft, purpose, seen, ctx);
      default:
        return deliverInput(draft, purpose.send, wordsForRun(purpose.places, seen, ctx), ctx);
    }
  },
};
