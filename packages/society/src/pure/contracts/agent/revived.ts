/**
 * What a cell asks for when it is revived: events that were sent to it while it had failed are gone, and with them what its
 * groups and its maker took from it.
 */
import { NOTICES } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { from } from '@reprise/kernel/define';
import { AGENT_ID } from '../cell/names.js';
import { childAgent, groupMember, makerCell, ownHot, ownSwarm, swarmAgent } from '../cell/senders.js';
import { DEPUTY_REASONS, suspendedBy } from './failed.js';

const nothing = z.strictObject({});
const revived = NOTICES['sys/Revived@1'];

/** What the maker of an agent did for it while its cell had failed. */
const kept = z.strictObject({
  status: z.enum(['active', 'suspended', 'deactivated', 'removed']),
  reason: z.enum([...DEPUTY_REASONS, 'grace_over']),
  suspended: z.nullable(suspendedBy),
  grace_until: z.nullable(z.int().min(0)),
});

const agentBack = z.strictObject({ agent_id: z.string().regex(AGENT_ID) });

/** The events of an entity about revivals. */
export const revivedNews = {
  'sys/Revived@1': revived,
  /** An agent that this entity made was revived: it is told again what it may have missed. */
  'society/AgentRevived@1': from(nothing, childAgent),
  /** The hot context of this entity was revived: it has missed what it was told meanwhile. */
  'society/HotRevived@1': from(nothing, ownHot),
  /** A swarm of this entity, or an agent of it, was revived. */
  'society/SwarmRevived@1': from(nothing, ownSwarm),
  /** The maker did this for the agent while its cell had failed: now the agent does so itself. */
  'society/Kept@1': from(kept, makerCell),
  /** An agent further below was revived. It goes up from maker to maker. */
  'society/AgentBack@1': from(agentBack, childAgent, ownSwarm),
  /** The maker was revived: this agent tells its status again, and how it stands with the work that a swarm waits for. */
  'society/Report@1': from(z.strictObject({ work: z.exactOptional(z.int().min(1)) }), makerCell),
} as const;

/** The events of a swarm about revivals. */
export const revivedNewsOfSwarm = {
  'sys/Revived@1': revived,
  'society/AgentRevived@1': from(nothing, swarmAgent),
  'society/AgentBack@1': from(agentBack, swarmAgent),
} as const;

/** The events of a group about revivals. */
export const revivedNewsOfGroup = {
  'sys/Revived@1': revived,
  /** A member was revived: it is told its role and the rules again. Who is no member is refused, and so hears that it left. */
  'society/MemberRevived@1': from(nothing, groupMember),
} as const;
