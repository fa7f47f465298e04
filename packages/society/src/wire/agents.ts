/** The tools about agents: registering, ending, listing, rights and states. */
import * as z from 'zod';
import { CAPABILITY_BOUNDS } from '../pure/contracts/agent/capability.js';
import {
  AgentId,
  AgentRow,
  AgentStatus,
  AgentType,
  Capabilities,
  CapabilityChange,
  CommandId,
  EntityId,
  GroupId,
  NOTES,
  page,
  Subscription,
  Subscriptions,
  Time,
  tier,
} from './defs.js';
import { toolsOf } from './tool.js';

const reason = () => z.string().max(500).optional();
const end = () => z.union([Time, z.null()]).optional();

/** The subscriptions out of the agent's reach; absent where none were asked for. */
const refusedSubscriptions = () =>
  z.array(Subscription).optional().register(NOTES, {
    description: 'Those of the subscriptions that are out of reach of the agent: it does not hear of them.',
  });

/** What an answer says of an agent whose own cell has failed: it was done from above, and why the cell failed. */
const ofFailed = () => ({
  cell: z.literal('failed').optional().register(NOTES, {
    description: 'The own cell of the agent has failed: what was taken back is held from above.',
  }),
  code: z.string().optional().register(NOTES, { description: 'The fault of the cell.' }),
});

export const agentTools = toolsOf({
  agent_register: {
    description:
      'Registers an agent below an entity: it gets a key pair, an id, a hot context and rights within those of its parent.',
    input: z.strictObject({
      parent_entity_id: EntityId,
      agent_type: AgentType,
      display_name: z.string().min(1).max(120),
      capabilities: Capabilities,
      grant: Capabilities.optional(),
      public_key: z.string().optional(),
      proof: z.string().optional(),
      subscriptions: Subscriptions.optional(),
      trust_floor: tier().optional(),
      automerge: z.boolean().optional(),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      agent_id: AgentId,
      public_key: z.string(),
      private_key_encrypted: z.string().nullable(),
      key_ref: z.string().optional(),
      status: AgentStatus,
      capabilities: Capabilities,
      expires_at: end(),
      refused_subscriptions: refusedSubscriptions(),
    }),
  },
  agent_deactivate: {
    description: 'Deactivates an agent: all that it has under way ends, and after a time of grace it is removed.',
    input: z.strictObject({
      agent_id: AgentId,
      reason: reason(),
      /** The usual grace; a society has its own (`society({ grace })`), so it is not filled in. */
      grace_seconds: z.int().min(0).max(31_536_000).optional().register(NOTES, { default: 604_800 }),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      agent_id: AgentId,
      status: AgentStatus,
      grace_until: Time,
      archive_item_id: z.string().register(NOTES, {
        description: 'Where its parent reads what the agent was about, by memory_read_warm.',
      }),
      ...ofFailed(),
    }),
  },
  agent_list: {
    description: 'Lists the agents of an entity.',
    input: z.strictObject({
      entity_id: EntityId.optional(),
      status: z.array(AgentStatus).optional(),
      agent_type: AgentType.optional(),
      ...page(200, 100),
    }),
    output: z.strictObject({ agents: z.array(AgentRow), next: z.string().optional() }),
  },
  agent_capabilities: {
    description: 'Shows the capabilities of an agent, or changes them; what they no longer permit ends at once.',
    input: z.strictObject({
      agent_id: AgentId,
      capabilities: CapabilityChange.optional(),
      grant: CapabilityChange.optional(),
      subscriptions: Subscriptions.optional(),
      trust_floor: tier().optional(),
      automerge: z.boolean().optional(),
      bonus_groups: z.array(GroupId).max(CAPABILITY_BOUNDS.bonus_groups).optional(),
      expected_revision: z.int().min(0).optional(),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      agent_id: AgentId,
      declared: Capabilities,
      effective: Capabilities,
      waiting: Capabilities.optional().register(NOTES, {
        description: 'What it has asked its maker for and does not have yet, since the cell of the maker has failed.',
      }),
      limited_by: z.array(z.strictObject({ ancestor: EntityId, dimension: z.string() })),
      revision: z.int(),
      refused_subscriptions: refusedSubscriptions(),
      status: AgentStatus.optional().register(NOTES, { description: "Only with cell: 'failed'." }),
      ...ofFailed(),
    }),
  },
  agent_set_status: {
    description: 'Activates, suspends or resumes an agent, or brings a deactivated one back within its time of grace.',
    input: z.strictObject({
      agent_id: AgentId,
      to: z.enum(['activate', 'suspend', 'resume', 'reactivate']),
      ttl_seconds: z.int().min(0).max(CAPABILITY_BOUNDS.ttl_seconds).optional(),
      reason: reason(),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      agent_id: AgentId,
      status: AgentStatus,
      reason: z.string().optional().register(NOTES, { description: 'Why it has this status.' }),
      expires_at: end(),
      ...ofFailed(),
    }),
  },
});
