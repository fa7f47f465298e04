/** Names of stores, of their tools and states, and their bounds. */
import type { Address } from '@reprise/contracts';

/** The wire name of a store's reducer. The key of a cell is the store's scope. */
export const STORE = 'memory/Store@1';

/** The scope of a store: `project:<id>`, `group:<id>`, `private:<entity>`, `public` or an app's own; visible ASCII. */
export const SCOPE = /^[!-~]{1,200}$/;

/** The address of a store. */
export function storeAt(scope: string): Address {
  return [STORE, scope];
}

/** The states of an item. Only live ones are found unless a search asks for the others. */
export const ITEM_STATES = ['live', 'quarantined', 'archived', 'superseded'] as const;

/** The state of an item. */
export type ItemState = (typeof ITEM_STATES)[number];

/** Where the words of an item come from: a person, an agent that chose them, or a derivation from other items. */
export const TRUSTS = ['user', 'curated', 'derived'] as const;

/** Where the words of an item come from. */
export type Trust = (typeof TRUSTS)[number];

/** The kinds of places in the provenance of an item. */
export const SOURCE_KINDS = ['message', 'result', 'task', 'narrative', 'job', 'node'] as const;

/** The lowest score of an item. */
export const SCORE_MIN = -10;

/** The highest score of an item. */
export const SCORE_MAX = 20;

/** What reinforcing adds to a score. */
export const REINFORCED_BY = 3;

/** What demoting takes from a score. */
export const DEMOTED_BY = 1;

/** The canonical bytes of an item. */
export const ITEM_BYTES_MAX = 2_048;

/** The live items of a store; beyond it those with the lowest score are archived. */
export const LIVE_ITEMS_MAX = 50_000;

/** The items that one delivery archives; the rest follows in deliveries of their own. */
export const ARCHIVED_AT_ONCE = 64;

/** The tags of an item. */
export const TAGS_MAX = 16;

/** The characters of a tag. */
export const TAG_LENGTH_MAX = 48;

/** The items that one search answers. */
export const SEARCH_ITEMS_MAX = 50;

/** The items that a search answers when it does not say how many. */
export const SEARCH_ITEMS_DEFAULT = 10;

/** The documents that a search ranks: the best by their text alone. */
export const CANDIDATES_MAX = 1_000;

/** The items that are read by their numbers at once. */
export const READ_ITEMS_MAX = 8;

/** The characters of an item's text that a tool takes. */
export const TEXT_LENGTH_MAX = 20_000;

/** The bytes of UTF-8 of a summary. */
export const ITEM_SUMMARY_BYTES_MAX = 600;

/** The bytes of the text that a query shows to a model. */
export const SHOWN_BYTES_MAX = 16_000;

/** The places that an explanation lists. */
export const CHAIN_MAX = 32;

/** The places that one place comes from. */
export const SOURCES_MAX = 16;
