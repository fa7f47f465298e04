/** The tools of events and emergencies. */
import * as z from 'zod';
import { SOCIETY_EVENTS } from '../pure/contracts/entity/agent-calls.js';
import { CommandId, GroupId, Time } from './defs.js';
import { toolsOf } from './tool.js';

const event = z.strictObject({
  n: z.int().min(0),
  event: z.enum(SOCIETY_EVENTS),
  payload: z.looseObject({}),
  timestamp: Time,
});

export const eventTools = toolsOf({
  events_poll: {
    description: 'Reads the own inbox of events; older ones were dropped and counted where it was full.',
    input: z.strictObject({
      after: z.int().min(0).optional(),
      limit: z.int().min(1).max(256).default(64),
    }),
    output: z.strictObject({ events: z.array(event), next: z.int().min(0), dropped: z.int().min(0) }),
  },
  group_emcon: {
    description: 'Switches emergency mode of a group: while it is on, writes are refused and reads go on.',
    input: z.strictObject({ group_id: GroupId, on: z.boolean(), command_id: CommandId.optional() }),
    output: z.strictObject({ group_id: GroupId, emcon: z.boolean() }),
  },
});
