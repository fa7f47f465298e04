/** Outgoing webhooks as a part of a world. */
import type { WorldPart } from '@reprise/agent';
import { OUTBOX, outboxReducer, postPlan } from '../pure/index.js';
import { Follower } from './follower.js';
import { Webhooks } from './handle.js';
import { postAdapter } from './post-adapter.js';
import { type ReceiverOptions, receiversOf, type WebhooksOptions } from './receivers.js';

/**
 * Tells receivers of the app when something in the world waits for a person, ends or fails: as a part of the world, with an
 * outbox in its journal, so that a restart loses nothing. Deliveries have the headers of Standard Webhooks.
 *
 * @param receivers receivers by name; their addresses and the names of their secrets come from here alone
 * @throws RepriseError `invalid_argument`
 * @example
 * const hooks = webhooks({ ops: { url: 'https://ops.example.com/hooks', secret: 'ops_webhook', on: ['waiting', 'failed'] } })
 * await using world = await openWorld({ store, models, agents, parts: [hooks], secrets })
 * for (const one of await world.part(hooks).undelivered('ops')) console.log(one.id, one.code)
 */
export function webhooks(
  receivers: Readonly<Record<string, ReceiverOptions>>,
  options: WebhooksOptions = {},
): WorldPart<Webhooks> {
  const known = receiversOf(receivers, options);
  return {
    name: 'webhooks',
    reducers: [outboxReducer],
    plans: [postPlan],
    adapters: () => [postAdapter(known)],
    policy: [
      { send: `${OUTBOX}/*`, who: 'human:*', decision: 'deny' },
      { effect: 'webhook.post@1', who: `cell:${OUTBOX}/*`, decision: 'allow' },
    ],
    started: async (world) => {
      if (world.kernel.forked?.mode === 'dry') return undefined; // a dry run tells nobody
      const follower = new Follower(world, known);
      await follower.start();
      return () => follower.stop();
    },
    handle: (world) => new Webhooks(world, known),
  };
}
