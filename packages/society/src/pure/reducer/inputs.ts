/** Inputs of an entity: before one starts a run, the first words of items that wait for a run are read. */
import type { ReducerContext } from '@reprise/kernel/define';
import type { EntityState } from '../contracts/index.js';
import { itemsAt, placesForRun } from './news.js';
import { see } from './seeing.js';
import { deliverInput, PARTS_MAX, type Send } from './sessions.js';

/** Takes an input: it begins with the first words of items that wait for a run, as far as the entity sees them now. */
export function sendInput(draft: EntityState, send: Send, ctx: ReducerContext): void {
  const places = placesForRun(ctx, PARTS_MAX - send.parts.length);
  if (places.length === 0) return deliverInput(draft, send, [], ctx);
  see(draft, itemsAt(places, ctx), { for: 'run', send, places: [...places] }, ctx);
}
