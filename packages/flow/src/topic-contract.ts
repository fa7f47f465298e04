/** The contract of topics: what they take, what they tell, what they keep (`flow/Topic@1`). */
import { address, timerFired, undeliverable, value } from '@reprise/contracts';
import { creates } from '@reprise/kernel/define';
import * as z from 'zod';
import { CONDITIONS_MAX, TOPIC_RETAINED_MAX } from './bounds.js';
import { party } from './parties.js';

/** The wire name of the topic reducer. */
export const TOPIC = 'flow/Topic@1';

/** The name of a publication: what it is about. */
const publicationName = z.string().min(1).max(128);

const cursor = z.int().min(0);

/** Which publications a subscriber wants: those of a name, and with these fields at the top of their value. */
export const filter = z.strictObject({
  name: z.exactOptional(publicationName),
  where: z
    .array(z.tuple([z.string().max(128), z.union([z.null(), z.boolean(), z.number(), z.string().max(256)])]))
    .max(CONDITIONS_MAX)
    .default([]),
});

/** What a topic takes. */
export const topicCommands = {
  /** Makes the topic; it keeps the last `retain` publications for those who ask for them. */
  'flow/OpenTopic@1': creates(z.strictObject({ retain: z.int().min(0).max(TOPIC_RETAINED_MAX).default(0) })),
  /** Publishes to every subscriber whose filter lets it through. */
  'flow/Publish@1': z.strictObject({ name: publicationName, value: value() }),
  /**
   * Subscribes the sender, or changes its filter. Without `from` it gets what is published from now on; with it, what
   * is kept from that cursor on as well.
   */
  'flow/Subscribe@1': z.strictObject({ filter: filter.default({ where: [] }), from: z.exactOptional(cursor) }),
  /** Ends the sender's subscription. */
  'flow/Unsubscribe@1': z.strictObject({}),
  /** Ends the topic, when nothing waits to be told. */
  'flow/CloseTopic@1': z.strictObject({}),
} as const;

/** What a subscriber is told: list it among the events of its reducer. Cursors rise; a gap was filtered or not kept. */
export const topicEvents = {
  'flow/Published@1': z.strictObject({ cursor, name: publicationName, value: value() }),
} as const;

/** What a topic states for watchers. */
export const topicFacts = {
  /** A subscription went, because nobody is there to be told. */
  'flow/SubscriberDropped@1': z.strictObject({ subscriber: address, code: z.string() }),
} as const;

/** The state of a topic; publications and subscribers are in tables. */
export const topicState = z.strictObject({
  open: z.boolean(),
  owner: party,
  retain: z.int(),
  /** The cursor of the next publication. */
  next: cursor,
  /** The oldest publication that is kept. */
  oldest: cursor,
  /** The publication that is being told: all before it are told, all after it wait. */
  telling: cursor,
  /** Who was told it last; null when nobody was. */
  told: z.nullable(z.string()),
});

/** A publication, by its cursor. */
export const publication = z.strictObject({ name: publicationName, value: value() });

/** A subscription, by its subscriber's address. */
export const subscription = z.strictObject({
  to: address,
  filter,
  /** The first publication that it is to get. */
  from: cursor,
});

/** The tables of a topic; who asked for what is kept is `behind` until it has got it. */
export const topicTables = { backlog: publication, subscribers: subscription, behind: subscription } as const;

/** What of the kernel's a topic takes. */
export const topicNotices = { 'sys/TimerFired@1': timerFired, 'sys/Undeliverable@1': undeliverable } as const;
