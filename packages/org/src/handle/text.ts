/** The text index over the items of all stores. */
import { defineTextIndex, type TextIndexDefinition } from '@reprise/kernel';
import { storeFacts } from '../pure/store/index.js';

/** The partition of live items in the index of a store. */
export const LIVE = 0;

/** The partition of the other items: a search looks there when it asks for all. */
export const OTHER = 1;

/**
 * `memory/Text@1`: the words and tags of every item, under `[scope, live or not, id]`. Words are read from content, so an
 * item whose content was erased is not in it.
 */
export const memoryText: TextIndexDefinition = defineTextIndex({
  name: 'memory/Text@1',
  // Each store is ranked by its own items alone: the items of others neither change its order nor slow it down.
  partition: 2,
  from: { 'fact:memory/Written@1': storeFacts['memory/Written@1'] },
  fold(documents, { cell, value }) {
    if (cell === null) return;
    const { id, content_ref, tags, state } = value;
    const [at, other] = state === 'live' ? [0, 1] : [1, 0];
    documents.remove([cell[1], other, id]);
    documents.put([cell[1], at, id], [{ erasable: content_ref }, tags.join(' ')]);
  },
});
