/** Items of a store, and the places that they come from. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import {
  ITEM_STATES,
  SCORE_MAX,
  SCORE_MIN,
  SOURCE_KINDS,
  SOURCES_MAX,
  TAG_LENGTH_MAX,
  TAGS_MAX,
  TRUSTS,
} from './names.js';

const count = z.int().min(0);

/** The number of an item in its store, from 1. */
export const itemNumber = z.int().min(1).max(999_999_999_999);

/** The number of a place in its organization. */
const placeNumber = count;

/** The tags of an item. They stand in frames: no personal data. */
export const itemTags = z.array(z.string().min(1).max(TAG_LENGTH_MAX)).max(TAGS_MAX);

/**
 * The place that an item comes from: the organization, by its formatted address, and numbers of its own. At least one of
 * message, result, task, narrative, job and node is stated. `seq` is a frame, where the writer knows one. `of` is the
 * cell whose words these are, by its formatted address, where the organization has taken them over from another;
 * `unreviewed` where it did so without a look at them, so that they stay that cell's.
 */
export const itemOrigin = z.strictObject({
  cell: z.string().min(1).max(360),
  message: z.exactOptional(placeNumber),
  result: z.exactOptional(placeNumber),
  task: z.exactOptional(placeNumber),
  narrative: z.exactOptional(placeNumber),
  job: z.exactOptional(placeNumber),
  node: z.exactOptional(placeNumber),
  seq: z.exactOptional(count),
  of: z.exactOptional(z.string().min(1).max(360)),
  unreviewed: z.exactOptional(z.literal(true)),
});

/** The place that an item comes from. */
export type ItemOrigin = z.infer<typeof itemOrigin>;

/** A place within an organization. */
export const place = z.strictObject({ kind: z.enum(SOURCE_KINDS), id: placeNumber });

/** A place within an organization. */
export type Place = z.infer<typeof place>;

/** The places that an origin names, in the order in which they explain an item. */
export function placesOf(origin: ItemOrigin): readonly Place[] {
  return SOURCE_KINDS_BY_NEARNESS.flatMap((kind) => {
    const id = origin[kind];
    return id === undefined ? [] : [{ kind, id }];
  });
}

const SOURCE_KINDS_BY_NEARNESS = ['result', 'task', 'job', 'node', 'narrative', 'message'] as const;

/**
 * `memory/Linked@1`: an organization states where one of its places comes from. The facts of all organizations make the
 * provenance of items. A message needs no source: `text_ref` are the words of the person who wrote it.
 */
export const linkedFact = z.strictObject({
  ...place.shape,
  /** A title in one line, without personal data. */
  title: z.string().max(200),
  from: z.array(place).max(SOURCES_MAX),
  text_ref: z.exactOptional(ref()),
});

/** Where a place comes from. */
export type Linked = z.infer<typeof linkedFact>;

/** An item: an entry of the table `items`, at most 2 KiB. */
export const memoryItem = z.strictObject({
  content_ref: ref(),
  summary_ref: ref(),
  tags: itemTags,
  type: z.string().min(1).max(32),
  /** The cell that wrote it, by its formatted address; `people` for a write from outside. */
  author: z.string().min(1).max(360),
  score: z.int().min(SCORE_MIN).max(SCORE_MAX),
  uses: count,
  revision: z.int().min(1),
  created_at: count,
  last_used_at: count,
  trust: z.enum(TRUSTS),
  state: z.enum(ITEM_STATES),
  confidence_ppm: z.nullable(z.int().min(0).max(1_000_000)),
  subject_key: z.nullable(z.string().min(1).max(128)),
  origin: z.nullable(itemOrigin),
  /** The contents that it was made from. */
  memory_of_refs: z.array(ref()).max(8),
  expires_at: z.nullable(count),
});

/** An item of a store. */
export type MemoryItem = z.infer<typeof memoryItem>;
