/** The culture of a group: how its members hear of what is written, and what they keep of it. */
import * as z from '@reprise/contracts/schema';
import { checkedAs, keptSchema } from '@reprise/org/contracts';
import { noted } from '../cell/statement.js';

/** How eagerly members hear of what is written: at their next step, at their next run, or when they ask. */
export const EAGERNESS = ['chatty', 'moderate', 'taciturn'] as const;

/** How eagerly members hear of what is written. */
export type Eagerness = (typeof EAGERNESS)[number];

/** What a member that leaves keeps of its copies: all, those of its own items, or none. */
export const DEPARTURE_POLICIES = ['permissive', 'standard', 'restrictive'] as const;

/** Whether news is also pushed to clients, is a line at the next run, or waits in the inbox alone. */
export const notification = z.enum(['push', 'notify', 'silent']);

/** A culture as callers state it: what they leave out has these values. */
export const cultureShown = noted(
  z.strictObject({
    broadcast_eagerness: z.enum(EAGERNESS).default('chatty'),
    /** The seconds after which items expire; 0 for items that stay. */
    ttl_default: checkedAs(z.int().min(0), z.int().min(0).max(315_360_000)).default(86_400),
    notification_policy: notification.default('push'),
    departure_policy: z.enum(DEPARTURE_POLICIES).default('permissive'),
  }),
  { id: 'Culture' },
);

/** A culture as it is stated: a group has values of its own for what is left out. */
export const cultureIn = keptSchema(cultureShown);

/** A culture as it is stated. */
export type CultureIn = z.infer<typeof cultureIn>;
