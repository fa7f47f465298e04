/** The schemas of topics: commands, events and state (`flow/Topic@1`). */
import { address, NOTICES, timerFired, undeliverable, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { creates, from, fromAll } from '@reprise/kernel/define';
import { CONDITIONS_MAX, TOPIC_RETAINED_MAX } from './bounds.js';
import { anyone, party } from './parties.js';

/** The wire name of the topic reducer. */
export const TOPIC = 'flow/Topic@1';

/** The name of a publication: its subject. */
const publicationName = z.string().min(1).max(128);

const cursor = z.int().min(0);

/** The filter of a subscriber: publications of a name, and with these fields at the top of their value. */
export const filter = z.strictObject({
  name: z.exactOptional(publicationName),
  where: z
    .array(z.tuple([z.string().max(128), z.union([z.null(), z.boolean(), z.number(), z.string().max(256)])]))
    .max(CONDITIONS_MAX)
    .default([]),
});

/** The commands of a topic. */
export const topicCommands = {
  /** Creates the topic; it retains the last `retain` publications for subscribers that request them. */
  'flow/OpenTopic@1': creates(
    from(z.strictObject({ retain: z.int().min(0).max(TOPIC_RETAINED_MAX).default(0) }), anyone),
  ),
  ...fromAll(
    {
      /** Publishes to every subscriber whose filter matches. */
      'flow/Publish@1': z.strictObject({ name: publicationName, value: value() }),
      /**
       * Subscribes the sender, or changes its filter; the owner of the topic may name another `subscriber`. Without `from`
       * the subscriber gets all later publications; with it, also the retained ones from that cursor on.
       */
      'flow/Subscribe@1': z.strictObject({
        filter: filter.default({ where: [] }),
        from: z.exactOptional(cursor),
        subscriber: z.exactOptional(address),
      }),
      /** Ends the subscription of the sender, or of the `subscriber` that the owner of the topic names. */
      'flow/Unsubscribe@1': z.strictObject({ subscriber: z.exactOptional(address) }),
      /** Ends the topic, when no publication waits. */
      'flow/CloseTopic@1': z.strictObject({}),
    },
    anyone,
  ),
} as const;

/**
 * The event for subscribers: list it among the events of a reducer. Cursors rise; missing ones were filtered or
 * removed.
 */
export const topicEvents = {
  'flow/Published@1': z.strictObject({ cursor, name: publicationName, value: value() }),
} as const;

/**
 * The event for the owner of a topic: the topic was revived. What was sent to it while its cell had failed is lost, such as
 * subscriptions. An owner that does not list it among its events hears nothing.
 */
export const topicOwnerEvents = { 'flow/TopicRevived@1': z.strictObject({}) } as const;

/** The facts of a topic, for watchers. */
export const topicFacts = {
  /** A subscription was removed, because its subscriber no longer exists. */
  'flow/SubscriberDropped@1': z.strictObject({ subscriber: address, code: z.string() }),
} as const;

/** The state of a topic; publications and subscribers are in tables. */
export const topicState = z.strictObject({
  open: z.boolean(),
  owner: party,
  retain: z.int(),
  /** The cursor of the next publication. */
  next: cursor,
  /** The cursor of the oldest publication that is retained. */
  oldest: cursor,
  /** The publication in delivery: all earlier ones were delivered, all later ones wait. */
  telling: cursor,
  /** The last subscriber that was considered for it; null for none. */
  told: z.nullable(z.string()),
});

/** A publication, by its cursor. */
export const publication = z.strictObject({ name: publicationName, value: value() });

/** A subscription, by its subscriber's address. */
export const subscription = z.strictObject({
  to: address,
  filter,
  /** The first publication that the subscriber is to get. */
  from: cursor,
});

/** The tables of a topic; a subscriber that requested retained publications is `behind` until it has them. */
export const topicTables = { backlog: publication, subscribers: subscription, behind: subscription } as const;

/** The kernel events that a topic handles. */
export const topicNotices = {
  'sys/TimerFired@1': timerFired,
  'sys/Undeliverable@1': undeliverable,
  'sys/Revived@1': NOTICES['sys/Revived@1'],
} as const;
