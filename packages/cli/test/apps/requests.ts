/** A module for `reprise verify --requests`: the models of a world, without their keys. */
import type { ReadonlyStore } from '@reprise/kernel';
import { openAiResponses, verifyRequests } from '@reprise/providers';

/** Rebuilds the requests of a world. */
export const requests = (store: ReadonlyStore) => verifyRequests(store, { main: openAiResponses('gpt-5') });
