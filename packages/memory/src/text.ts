/** The text index over the items of all stores. */
import { defineTextIndex, type TextIndexDefinition } from '@reprise/kernel';
import { storeFacts } from './pure/index.js';

/** The part of the key of a live item in the index; of the others it is 1. Searches look among the live ones unless they ask for all. */
export const LIVE = 0;

/**
 * `memory/Text@1`: the words and tags of every item, under `[scope, live or not, id]`. Words are read from content, so an
 * item whose content was erased is not in it.
 */
export const memoryText: TextIndexDefinition = defineTextIndex({
  name: 'memory/Text@1',
  from: { 'fact:memory/Written@1': storeFacts['memory/Written@1'] },
  fold(documents, { cell, value }) {
    if (cell === null) return;
    const { id, content_ref, tags, state } = value;
    const [at, other] = state === 'live' ? [0, 1] : [1, 0];
    documents.remove([cell[1], other, id]);
    documents.put([cell[1], at, id], [{ erasable: content_ref }, tags.join(' ')]);
  },
});
