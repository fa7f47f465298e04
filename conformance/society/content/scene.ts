/** A world of a society whose model is a provider that a test answers for, opened new or on a fork. */
import { type AnyAgent, defineAgent, memory, openWorld } from 'reprise';
import { openAiCompatible } from 'reprise/providers';
import { groupTools, type KeyVault } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import { failingSociety } from '../failing.js';
import { deskPart } from './desk.js';
import { Provider } from './provider.js';

/** What a world is opened on. */
interface Ground {
  readonly keys: KeyVault;
  readonly store?: ReturnType<typeof memory>;
  readonly clock?: VirtualClock;
}

/** The tools by which a model is shown words: the others only make each request larger. */
const tools = groupTools.filter(({ name }) => name === 'memory_read_warm' || name === 'memory_search');
const worker: AnyAgent = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools });

/** Opens a world. The failures of cells that a test makes fail are not reported. */
export async function openScene({ keys, store = memory(), clock = new VirtualClock() }: Ground) {
  const provider = new Provider();
  const part = failingSociety({ keys });
  const fetch = provider.fetch as unknown as typeof globalThis.fetch;
  const main = openAiCompatible({ model: 'm', baseUrl: 'http://provider.test/v1', retry: { retriesMax: 0 }, fetch });
  const world = await openWorld({
    ...{ store, clock, models: { main }, agents: [worker], parts: [part, deskPart] },
    onError: () => undefined,
  });
  const inbox = world.served[0]?.resources?.[0]; // each look at what a world serves writes all schemas again
  return { world, office: world.part(part), clock, provider, worker, keys, inbox };
}

/** An opened world. */
export type Scene = Awaited<ReturnType<typeof openScene>>;
