/** The gate has let an entity see stores: it takes news, asks boards, or begins a run with the first words of items. */

import type { EntityState } from '../../contracts/entity/entity.js';
import { argsOf, type News } from '../../contracts/entity-parts.js';
import type { seenNews } from '../../contracts/group/seeing.js';
import { goOnWith, planOver } from '../call/answers.js';
import { type EntityContext, type EntityHandlers, idOf } from '../context/entity.js';
import { readBoards } from '../inbox/board-reading.js';
import { polled } from '../inbox/inbox.js';
import { itemsAt, placesForRun, see, wordsForRun } from '../inbox/news.js';
import { takeItemNews } from '../inbox/published.js';
import { readHot } from '../memory/hot.js';
import { answerReturn } from '../staging/returns.js';
import { deliverInput, PARTS_MAX, type Send } from '../status/sessions.js';

export const seenHandlers: EntityHandlers<typeof seenNews> = {
  'society/Seen@1': (draft, { seen, purpose }, ctx) => {
    planOver(ctx);
    switch (purpose.for) {
      case 'news':
        return takeItemNews(draft, purpose.news, seen, ctx);
      case 'boards':
      case 'input':
        readBoards(seen, ctx);
        return asked(purpose, false, ctx);
      case 'return':
        return answerReturn(draft, purpose, seen, ctx);
      default:
        return deliverInput(draft, purpose.send, wordsForRun(purpose.places, seen, ctx), ctx);
    }
  },
  'society/NewsAsked@1': (draft, { purpose, answered }, ctx) => {
    if (!answered) return asked(purpose, true, ctx);
    if (purpose.for === 'input') return sendInput(draft, purpose.send, ctx);
    const { call } = purpose;
    goOnWith(draft, call ?? '', ctx, (row) => {
      if (row.name === 'events_poll') return polled(argsOf(row, row.name), call ?? '', ctx);
      readHot(idOf(ctx), call ?? '', ctx);
      return undefined;
    });
  },
};

type NewsAsked = News<'society/NewsAsked@1'>;

/** What waits for the news of the groups goes on behind their answers; nothing may wait. */
function asked(purpose: NewsAsked['purpose'], answered: boolean, ctx: EntityContext): void {
  if (purpose.for === 'boards' && purpose.call === null) return;
  ctx.send(ctx.address, { name: 'society/NewsAsked@1', value: { purpose, answered } });
}

/** Takes an input: it begins with the first words of items that wait for a run, as far as the entity sees them now. */
export function sendInput(draft: EntityState, send: Send, ctx: EntityContext): void {
  const places = placesForRun(ctx, PARTS_MAX - send.parts.length);
  if (places.length === 0) return deliverInput(draft, send, [], ctx);
  see(draft, itemsAt(places, ctx), { for: 'run', send, places: [...places] }, ctx);
}
