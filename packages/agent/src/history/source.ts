/** Where a history is read from: an open world, or the file of one that another process may hold. */
import { requireMethods } from '@reprise/contracts';
import type { ContentReader, World } from '@reprise/kernel';
import { framesOf } from '../session/run/events.js';
import type { EventFrame } from '../timeline/event-frame.js';

/** The frames and the content that a history is read from. */
export interface HistorySource {
  readonly content: ContentReader;
  /** The durable frames, from the first to the last one that exists now; may be called again. */
  frames(): AsyncIterable<EventFrame>;
}

/** The history of an open world. */
export function historyOf(world: Pick<World, 'frames' | 'content' | 'head'>): HistorySource {
  requireMethods(world, ['frames'], 'historyOf(world)', 'an open kernel world, such as world.kernel');
  return { content: world.content, frames: () => framesOf(world, 0, { follow: false }) };
}
