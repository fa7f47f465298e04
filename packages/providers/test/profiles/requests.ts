/** What `reprise verify --requests` is given: the models of a world, without their keys. */
import type { ReadonlyStore } from '@reprise/kernel';
import { openAiResponses, verifyRequests } from '@reprise/providers';

/** Makes the requests of a world again. */
export const requests = (store: ReadonlyStore) => verifyRequests(store, { main: openAiResponses('gpt-5') });
