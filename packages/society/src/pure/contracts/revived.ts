/**
 * What a cell asks for when it is revived: events that were sent to it while it had failed are gone, and with them what its
 * groups and its maker took from it.
 */
import { NOTICES } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, from } from '@reprise/kernel/define';
import { NAME_ID } from './names.js';
import { childAgent, groupMember, makerCell, ownSwarm, swarmAgent } from './senders.js';

const nothing = z.strictObject({});
const revived = NOTICES['sys/Revived@1'];

/** The events of an entity about revivals. */
export const revivedNews = {
  'sys/Revived@1': revived,
  /** An agent that this entity made was revived: it is told again what it may have missed. */
  'society/AgentRevived@1': from(nothing, childAgent),
  /** A swarm of this entity, or an agent of it, was revived. */
  'society/SwarmRevived@1': from(nothing, ownSwarm),
  /** The maker has suspended this agent while its cell had failed: for an entity that stands so deep. */
  'society/SuspendedFor@1': from(z.strictObject({ by: z.string().regex(NAME_ID), depth: z.int().min(0) }), makerCell),
  /** The maker was revived: this agent tells its status again. */
  'society/Report@1': from(nothing, makerCell),
  /** To itself: the agents after this one are told again. */
  'society/TellAgain@1': from(z.strictObject({ after: z.string().max(128) }), by.self),
} as const;

/** The events of a swarm about revivals. */
export const revivedNewsOfSwarm = {
  'sys/Revived@1': revived,
  'society/AgentRevived@1': from(nothing, swarmAgent),
} as const;

/** The events of a group about revivals. */
export const revivedNewsOfGroup = {
  'sys/Revived@1': revived,
  /** A member was revived: it is told its role and the rules again. Who is no member is refused, and so hears that it left. */
  'society/MemberRevived@1': from(nothing, groupMember),
} as const;
