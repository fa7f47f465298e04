/** Queues, promises and topics as a part of a world of agents. */
import type { WorldPart } from '@reprise/agent';
import { PROMISE, promise, QUEUE, queue, TOPIC, topic } from './pure/flow/index.js';

/**
 * Queues, promises and topics as a part of a world. Its policy rules let every cell of the world send to these
 * cells, which judge by themselves whom they obey, and let these cells notify every cell that takes their events.
 *
 * @example await using world = await openWorld({ store, models, agents, parts: [flow] })
 */
export const flow: WorldPart<undefined> = {
  name: 'flow',
  reducers: [queue, promise, topic],
  policy: [QUEUE, PROMISE, TOPIC].flatMap((name) => [
    { send: `${name}/*`, decision: 'allow' as const },
    { send: '*', who: `cell:${name}/*`, decision: 'allow' as const },
  ]),
  handle: () => undefined,
};
