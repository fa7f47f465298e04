/** The arguments of the tools about agents, as an entity takes them: long texts are links. */
import { keyText, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { capabilities, capabilityChange } from '../agent/capability.js';
import { AGENT_STATUSES, AGENT_TYPES, SOCIETY_BOUNDS } from '../cell/names.js';
import { agentId, displayName, entityId, nameId, tier } from './entity.js';

const reason_ref = z.exactOptional(ref());

/** The events that can be subscribed to. */
export const SOCIETY_EVENTS = [
  'memory.written',
  'group.member_joined',
  'group.member_left',
  'swarm.task_complete',
  'trust.score_changed',
  'agent.status_changed',
] as const;

/** A subscription: to an event, of a group or of an agent. */
export const subscription = z.strictObject({
  event: z.enum(SOCIETY_EVENTS),
  group_id: z.exactOptional(nameId),
  agent_id: z.exactOptional(agentId),
});

/** A subscription: to an event, of a group or of an agent. */
export type Subscription = z.infer<typeof subscription>;

const subscriptions = z.exactOptional(z.array(subscription).max(SOCIETY_BOUNDS.subscriptions));

/** The arguments of each tool about agents. */
export const agentCalls = {
  agent_register: z.strictObject({
    parent_entity_id: z.exactOptional(entityId),
    agent_type: z.enum(AGENT_TYPES),
    display_name: displayName,
    capabilities,
    grant: z.exactOptional(capabilities),
    /** A key of the agent's own, and the proof that it has it. */
    public_key: z.exactOptional(z.string().max(128)),
    proof: z.exactOptional(z.string().max(1_024)),
    subscriptions,
    trust_floor: z.exactOptional(tier),
    automerge: z.exactOptional(z.boolean()),
  }),
  agent_deactivate: z.strictObject({
    agent_id: agentId,
    reason_ref,
    grace_seconds: z.exactOptional(z.int().min(0).max(31_536_000)),
  }),
  agent_list: z.strictObject({
    entity_id: z.exactOptional(entityId),
    status: z.exactOptional(z.array(z.enum(AGENT_STATUSES)).max(5)),
    agent_type: z.exactOptional(z.enum(AGENT_TYPES)),
    /** The id of the last agent of the page before. */
    after: z.exactOptional(keyText(128)),
    limit: z.exactOptional(z.int().min(1).max(200)),
  }),
  agent_capabilities: z.strictObject({
    agent_id: agentId,
    capabilities: z.exactOptional(capabilityChange),
    grant: z.exactOptional(capabilityChange),
    subscriptions,
    trust_floor: z.exactOptional(tier),
    automerge: z.exactOptional(z.boolean()),
    bonus_groups: z.exactOptional(z.array(nameId).max(16)),
    expected_revision: z.exactOptional(z.int().min(0)),
  }),
  agent_set_status: z.strictObject({
    agent_id: agentId,
    to: z.enum(['activate', 'suspend', 'resume', 'reactivate']),
    ttl_seconds: z.exactOptional(z.int().min(0).max(315_360_000)),
    reason_ref,
  }),
} as const;

/** The arguments of a tool about agents. */
export type AgentCallOf<T extends keyof typeof agentCalls> = z.infer<(typeof agentCalls)[T]>;
