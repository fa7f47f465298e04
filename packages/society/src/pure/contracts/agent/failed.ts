/**
 * Agents whose cells have failed, as the entities above them know them, and what is cut from them meanwhile: by their maker,
 * which acts for them until they are revived, and by every entity above that takes something back. What a cell asks for when
 * it is revived: events that were sent to it while it had failed are gone, and with them what its groups and its maker took
 * from it.
 */

import { address, capability, NOTICES } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, from } from '@reprise/kernel/define';
import { AGENT_ID, AGENT_STATUSES, NAME_ID } from '../cell/names.js';
import {
  childAgent,
  childHot,
  groupMember,
  makerCell,
  ownHot,
  ownSwarm,
  swarmAgent,
  swarmAgentHot,
  swarmCreator,
} from '../cell/senders.js';

const stamp = z.int().min(0);
const agentId = z.string().regex(AGENT_ID);
const entityId = z.string().regex(NAME_ID);
const failure = z.string().max(96);

/** Why the maker of an agent changed its status for it. */
export const DEPUTY_REASONS = ['asked', 'ttl', 'swarm_over', 'ancestor'] as const;

/** Who suspended an agent, and how deep that entity stands. */
export const suspendedBy = z.strictObject({ by: entityId, depth: stamp });

/** The tables of a cell that makes agents, about those whose cells fail. */
export const failedTables = {
  failed: z.strictObject({
    /** The code of the fault. */
    code: failure,
    /** The cell below that told of it, and passes on what is asked of the maker; null where this cell is the maker. */
    via: z.nullable(address),
    status: z.enum(AGENT_STATUSES),
    /** The end of its time, and of its time of grace, where this cell is the maker. */
    expires_at: z.nullable(stamp),
    grace_until: z.nullable(stamp),
    /** Who suspended it since, and how deep that entity stands. */
    suspended: z.nullable(suspendedBy),
    /** Why this cell changed its status for it; null where nothing was changed. */
    reason: z.nullable(z.enum(DEPUTY_REASONS)),
  }),
  /** What it holds an agent below it to, by the agent's id. */
  holds: z.strictObject({
    /** It was ended: it may do nothing. */
    ended: z.boolean(),
    /** What changes of its capabilities left it; null for no change. */
    narrowed: z.nullable(capability),
  }),
  /** The open sessions of the agents that it made, by their keys, which begin with the agent's id and a slash. */
  agent_sessions: z.null(),
};

/**
 * An agent tells its maker of a session, which pauses and closes it where the agent's cell fails. So it tells its hot context,
 * which says it again to a maker that had failed as well.
 */
export const agentSession = z.strictObject({ session: z.string().max(256), open: z.boolean() });

/** The cell of an agent below has failed. It goes up from maker to maker. */
const agentFailed = z.strictObject({ agent_id: agentId, code: failure, status: z.enum(AGENT_STATUSES) });

/** An entity above asks the maker of a failed agent to act for it. It goes down the way that the news came up. */
const forFailed = z.strictObject({
  agent_id: agentId,
  act: z.enum(['deactivate', 'suspend', 'resume']),
  by: entityId,
  depth: stamp,
  grace_ms: z.nullable(stamp),
});

/** The events of an entity about agents whose cells have failed. */
export const failedNews = {
  'society/AgentSession@1': from(agentSession, childAgent, childHot),
  'society/AgentFailed@1': from(agentFailed, childAgent, ownSwarm),
  'society/ForFailed@1': from(forFailed, makerCell),
  /** Follows the hold of a call about an agent that is not known as failed: by then the kernel has refused it, or not. */
  'society/Held@1': from(z.strictObject({ call: z.string().max(64), about: agentId, code: failure }), by.self),
};

/** The events of a swarm about them. */
export const failedNewsOfSwarm = {
  'society/AgentSession@1': from(agentSession, swarmAgent, swarmAgentHot),
  'society/AgentFailed@1': from(agentFailed, swarmAgent),
  'society/ForFailed@1': from(forFailed, swarmCreator),
  /** An agent of the creator, or below it, whose cell has failed was ended for it: it may have led the swarm. */
  'society/FailedEnded@1': from(z.strictObject({ agent_id: agentId }), swarmCreator),
};

/** The facts about agents whose cells have failed. */
export const failedFacts = {
  /** The maker of an agent changed its status for it. */
  'society/FailedAgentChanged@1': z.strictObject({
    agent_id: agentId,
    old: z.enum(AGENT_STATUSES),
    new: z.enum(AGENT_STATUSES),
    reason: z.enum([...DEPUTY_REASONS, 'grace_over']),
  }),
};

const nothing = z.strictObject({});
const revived = NOTICES['sys/Revived@1'];

/** What the maker of an agent did for it while its cell had failed. */
const kept = z.strictObject({
  status: z.enum(['active', 'suspended', 'deactivated', 'removed']),
  reason: z.enum([...DEPUTY_REASONS, 'grace_over']),
  suspended: z.nullable(suspendedBy),
  grace_until: z.nullable(stamp),
});

const agentBack = z.strictObject({ agent_id: agentId });

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
