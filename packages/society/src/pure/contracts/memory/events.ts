/** The tools of events and emergencies, and the events that can be subscribed to. */
import * as z from '@reprise/contracts/schema';
import { optional } from '@reprise/org/contracts';
import { acting, nameId, pageLimit, reading, time } from '../cell/statement.js';
import { MEMORY_BOUNDS } from './tools.js';

/** The events that can be subscribed to. */
export const SOCIETY_EVENTS = [
  'memory.written',
  'group.member_joined',
  'group.member_left',
  'swarm.task_complete',
  'trust.score_changed',
  'agent.status_changed',
] as const;

const count = z.int().min(0);

const event = z.strictObject({
  n: count,
  event: z.enum(SOCIETY_EVENTS),
  payload: z.looseObject({}),
  timestamp: time,
});

/** The tools of events and emergencies. */
export const eventCalls = {
  events_poll: reading({
    description: 'Reads the own inbox of events; older ones were dropped and counted where it was full.',
    args: {
      /** The number of the last event that was seen. */
      ...optional({ after: count }),
      limit: pageLimit(256, MEMORY_BOUNDS.polled),
    },
    answer: { events: z.array(event), next: count, dropped: count },
  }),
  group_emcon: acting({
    description: 'Switches emergency mode of a group: while it is on, writes are refused and reads go on.',
    args: { group_id: nameId, on: z.boolean() },
    answer: { group_id: nameId, emcon: z.boolean() },
  }),
};
