/** A client that writes otherwise than the one that the world was opened with. */
import type { ReadonlyStore } from '@reprise/kernel';
import { openAiResponses, verifyRequests } from '@reprise/providers';

const main = openAiResponses('gpt-5', { profile: { provider_options_default: { seed: 1 } } });

/** Makes the requests of a world again. */
export const requests = (store: ReadonlyStore) => verifyRequests(store, { main });
