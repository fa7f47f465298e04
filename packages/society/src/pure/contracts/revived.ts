/**
 * What cells of a society ask each other once one of them was revived: what it was told while it had failed is lost, and
 * what others told it.
 */

import { actor, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, from } from '@reprise/kernel/define';
import { DEPUTY_REASONS, suspendedBy } from './failed.js';
import { AGENT_ID } from './names.js';
import { childAgent, makerCell, ownSwarm, swarmAgent, swarmCreator } from './senders.js';

const stamp = z.int().min(0);

/** What the maker of an agent did for it while its cell had failed. */
const kept = z.strictObject({
  status: z.enum(['active', 'suspended', 'deactivated', 'removed']),
  reason: z.enum([...DEPUTY_REASONS, 'grace_over']),
  suspended: z.nullable(suspendedBy),
  grace_until: z.nullable(stamp),
});

/** What the maker of an agent did for it while its cell had failed. */
export type KeptForFailed = z.infer<typeof kept>;

/** `started`: whether it had begun before. */
const askStanding = z.strictObject({ started: z.boolean() });

/** `work`: the number of the work that its swarm has not heard the end of; null for none. */
const report = z.strictObject({ work: z.nullable(stamp) });

/** A narrowing of a failed agent, which is asked of it again: an entry of the table `unheard`, by its id and a number. */
export const unheard = z.strictObject({ call: z.string().max(64), args: value(), actor });

/** A narrowing of a failed agent. */
export type Unheard = z.infer<typeof unheard>;

const agentBack = z.strictObject({ agent_id: z.string().regex(AGENT_ID) });

/** The events of an entity about revived cells. */
export const revivedNews = {
  /** An agent, or a swarm, that was revived asks what it was not told meanwhile. */
  'society/AskStanding@1': from(askStanding, childAgent, ownSwarm),
  /** The maker did this for the agent meanwhile: now the agent does so itself. */
  'society/Kept@1': from(kept, makerCell),
  /** The maker was revived: it asks what this agent told it meanwhile. */
  'society/Report@1': from(report, makerCell),
  /** An agent further below was revived. It goes up from maker to maker. */
  'society/AgentBack@1': from(agentBack, childAgent, ownSwarm),
  /** This entity was revived: it has the agents after an id report to it, some at a time. */
  'society/AskReports@1': from(z.strictObject({ after: z.string().max(128) }), by.self),
};

/** The events of a swarm about them. */
export const revivedNewsOfSwarm = {
  'society/AskStanding@1': from(askStanding, swarmAgent),
  'society/Report@1': from(report, swarmCreator),
};
