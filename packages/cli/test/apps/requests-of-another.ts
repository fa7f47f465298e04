/** A client that writes requests differently from the one that the world was opened with. */
import type { ReadonlyStore } from '@reprise/kernel';
import { openAiResponses, verifyRequests } from '@reprise/providers';

const main = openAiResponses('gpt-5', { profile: { provider_options_default: { seed: 1 } } });

/** Rebuilds the requests of a world. */
export const requests = (store: ReadonlyStore) => verifyRequests(store, { main });
