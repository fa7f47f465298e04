/** Opens worlds for tests as an app does. */
import type { AgentWorld, WorldPart } from '@reprise/agent';
import type { Store } from '@reprise/kernel';
import { memory } from '@reprise/kernel';
import { openWorld as open } from '../../../reprise/src/index.js';
import { script } from '../../../reprise/src/providers.js';
import { talker } from './talker.js';

export { memory };

/** What tests vary. */
export interface OpenedWith {
  readonly store?: Store;
  readonly parts?: readonly WorldPart[];
  readonly secrets?: (name: string) => Promise<string>;
  readonly policy?: Parameters<typeof open>[0]['policy'];
  readonly clock?: Parameters<typeof open>[0]['clock'];
}

/** Opens a world with an agent that says a few words. */
export function openWorld({ store = memory(), ...options }: OpenedWith): Promise<AgentWorld> {
  const { parts, secrets, policy, clock } = options;
  const steps = Array.from({ length: 20 }, (_, i) => ({ text: `answer ${i}` }));
  return open({
    store,
    models: { main: script(...steps) },
    agents: [talker],
    ...(parts === undefined ? {} : { parts }),
    ...(secrets === undefined ? {} : { secrets }),
    ...(policy === undefined ? {} : { policy }),
    ...(clock === undefined ? {} : { clock }),
  });
}
