/**
 * What an entity is shown without having asked for it: which stores and items it looks at, and what the gate lets through.
 * News names items; their words are read when they first enter an inbox or a session, with the rights of that moment.
 */
import { ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, from } from '@reprise/kernel/define';
import { itemNumber, READ_ITEMS_MAX, scope } from '@reprise/org/contracts';
import { NAME_ID, SOCIETY_BOUNDS } from '../cell/names.js';
import { send } from '../entity/entity.js';
import { GROUP_BOUNDS, newsShape } from './group.js';

const id = z.string().regex(NAME_ID);
const ids = z.array(itemNumber).max(READ_ITEMS_MAX);

/** A store that an entity looks at, and the items whose words it is to be shown; without any, only whether it may. */
export const look = z.strictObject({
  store: scope,
  ids,
  /** Whether the gate is asked; what a person has no part in is denied without it. */
  ask: z.boolean(),
});

/** A store that an entity looks at. */
export type Look = z.infer<typeof look>;

/** A store as the gate lets it be seen: of the items, those in use, with the link of their first words. */
export const seen = z.strictObject({
  store: scope,
  /** `later` is permitted, but could not be read now, for instance in a store that has failed. */
  verdict: z.enum(['seen', 'later', 'denied']),
  items: z.array(z.strictObject({ id: itemNumber, summary_ref: ref() })).max(READ_ITEMS_MAX),
});

/** A store as the gate lets it be seen. */
export type Seen = z.infer<typeof seen>;

/** News of an item, as a group publishes it to a member. */
export const itemNews = z.strictObject({
  ...newsShape,
  group: id,
  push: z.boolean(),
  /** Whether its first words go to the sessions that run at once. */
  steer: z.boolean(),
});

/** What waits for the news of all groups: a call, an input, or nothing. */
const waitingForNews = [
  z.strictObject({ for: z.literal('boards'), call: z.nullable(z.string().max(64)) }),
  z.strictObject({ for: z.literal('input'), send }),
] as const;

/** What the entity does with what it sees. */
export const seeingFor = z.discriminatedUnion('for', [
  /** Takes the news of an item. */
  z.strictObject({ for: z.literal('news'), news: itemNews }),
  /** Asks the boards of its groups, and then answers a call, or takes an input. */
  ...waitingForNews,
  /** Begins a run with an input and the first words of what stands in these places of the inbox. */
  z.strictObject({
    for: z.literal('run'),
    send,
    places: z.array(z.int().min(1)).max(READ_ITEMS_MAX),
  }),
  /** Answers a return with the conflicts in stores that it sees. */
  z.strictObject({ for: z.literal('return'), call: z.string().max(64), value: value() }),
]);

/** What the entity does with what it sees. */
export type SeeingFor = z.infer<typeof seeingFor>;

/** The most stores of one plan: the groups of an entity. */
export const LOOKS_MAX = Math.max(SOCIETY_BOUNDS.memberships, GROUP_BOUNDS.chatty);

/** The event of what was seen. */
export const seenNews = {
  'society/Seen@1': from(z.strictObject({ seen: z.array(seen).max(LOOKS_MAX), purpose: seeingFor }), by.ownPlan),
  /** The entity to itself: the groups have been asked; when it arrives again, all have answered. */
  'society/NewsAsked@1': from(
    z.strictObject({ purpose: z.discriminatedUnion('for', [...waitingForNews]), answered: z.boolean() }),
    by.self,
  ),
} as const;
