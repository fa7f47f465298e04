/** The tools about agents: registering, ending, listing, rights and states. */

import { keyText } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { checkedAs, erasable, optional } from '@reprise/org/contracts';
import { CAPABILITY_BOUNDS, capabilitiesShown as capabilities, capabilityChange } from '../agent/capability.js';
import { publicKey } from '../agent/identity.js';
import { AGENT_STATUSES, SOCIETY_BOUNDS } from '../cell/names.js';
import {
  acting,
  agentId,
  agentStatus,
  agentType,
  entityId,
  nameId,
  noted,
  pageLimit,
  reading,
  tier,
  time,
  timeOrNull,
  told,
} from '../cell/statement.js';
import { SOCIETY_EVENTS } from '../memory/tools.js';

/** The text of a display name. */
export const displayName = z.string().min(1).max(120);

/** A subscription: to an event, of a group or of an agent. */
export const subscription = noted(
  z.strictObject({ event: z.enum(SOCIETY_EVENTS), ...optional({ group_id: nameId, agent_id: agentId }) }),
  { id: 'Subscription' },
);

/** A subscription: to an event, of a group or of an agent. */
export type Subscription = z.infer<typeof subscription>;

const subscriptions = z.array(subscription).max(SOCIETY_BOUNDS.subscriptions);

const reason = erasable().max(500);

const agentRow = noted(
  z.strictObject({
    agent_id: agentId,
    parent_entity_id: entityId,
    agent_type: agentType,
    display_name: z.string(),
    created_at: time,
    public_key: z.string(),
    status: agentStatus,
    ...optional({ expires_at: timeOrNull }),
  }),
  { id: 'AgentRow' },
);

/** The subscriptions out of the agent's reach; absent where none were asked for. */
const refused_subscriptions = told(
  z.array(subscription),
  'Those of the subscriptions that are out of reach of the agent: it does not hear of them.',
);

/** What an answer says of an agent whose own cell has failed: it was done from above, and why the cell failed. */
const ofFailed = {
  cell: told(z.literal('failed'), 'The own cell of the agent has failed: what was taken back is held from above.'),
  code: told(z.string(), 'The fault of the cell.'),
};

/** The tools by which entities register, list, limit and end agents. */
export const agentCalls = {
  agent_register: acting({
    description:
      'Registers an agent below an entity: it gets a key pair, an id, a hot context and rights within those of its parent.',
    args: {
      parent_entity_id: entityId,
      agent_type: agentType,
      display_name: displayName,
      capabilities,
      ...optional({
        grant: capabilities,
        /** A key of the agent's own, and the proof that it has it. */
        public_key: checkedAs(z.string(), z.string().max(128)),
        proof: checkedAs(z.string(), z.string().max(1_024)),
        subscriptions,
        trust_floor: tier,
        automerge: z.boolean(),
      }),
    },
    answer: {
      agent_id: agentId,
      public_key: z.string(),
      private_key_encrypted: z.string().nullable(),
      ...optional({ key_ref: z.string() }),
      status: agentStatus,
      capabilities,
      ...optional({ expires_at: timeOrNull }),
      refused_subscriptions,
    },
  }),
  agent_deactivate: acting({
    description: 'Deactivates an agent: all that it has under way ends, and after a time of grace it is removed.',
    args: {
      agent_id: agentId,
      ...optional({ reason }),
      /** The usual grace; a society has its own (`society({ grace })`), so it is not filled in. */
      grace_seconds: noted(z.exactOptional(z.int().min(0).max(31_536_000)), { default: 604_800 }),
    },
    answer: {
      agent_id: agentId,
      status: agentStatus,
      grace_until: time,
      archive_item_id: noted(z.string(), {
        description: 'Where its parent reads what the agent was about, by memory_read_warm.',
      }),
      ...ofFailed,
    },
  }),
  agent_list: reading({
    description: 'Lists the agents of an entity.',
    args: {
      ...optional({
        entity_id: entityId,
        status: checkedAs(z.array(agentStatus), z.array(agentStatus).max(AGENT_STATUSES.length)),
        agent_type: agentType,
        /** The id of the last agent of the page before. */
        after: checkedAs(z.string(), keyText(128)),
      }),
      limit: pageLimit(200, 100),
    },
    answer: { agents: z.array(agentRow), ...optional({ next: z.string() }) },
  }),
  agent_capabilities: acting({
    description: 'Shows the capabilities of an agent, or changes them; what they no longer permit ends at once.',
    args: {
      agent_id: agentId,
      ...optional({
        capabilities: capabilityChange,
        grant: capabilityChange,
        subscriptions,
        trust_floor: tier,
        automerge: z.boolean(),
        bonus_groups: z.array(nameId).max(CAPABILITY_BOUNDS.bonus_groups),
        expected_revision: z.int().min(0),
      }),
    },
    answer: {
      agent_id: agentId,
      declared: capabilities,
      effective: capabilities,
      waiting: told(
        capabilities,
        'What it has asked its maker for and does not have yet, since the cell of the maker has failed.',
      ),
      limited_by: z.array(z.strictObject({ ancestor: entityId, dimension: z.string() })),
      revision: z.int(),
      refused_subscriptions,
      status: told(agentStatus, "Only with cell: 'failed'."),
      ...ofFailed,
    },
  }),
  agent_reader_key: acting({
    description:
      'Registers the X25519 public key of the calling entity: the private keys of the agents that it registers from then on come encrypted for it.',
    args: { public_key: checkedAs(z.string(), publicKey) },
    answer: { entity_id: entityId, public_key: z.string() },
  }),
  agent_set_status: acting({
    description: 'Activates, suspends or resumes an agent, or brings a deactivated one back within its time of grace.',
    args: {
      agent_id: agentId,
      to: z.enum(['activate', 'suspend', 'resume', 'reactivate']),
      ...optional({ ttl_seconds: z.int().min(0).max(CAPABILITY_BOUNDS.ttl_seconds), reason }),
    },
    answer: {
      agent_id: agentId,
      status: agentStatus,
      reason: told(z.string(), 'Why it has this status.'),
      ...optional({ expires_at: timeOrNull }),
      ...ofFailed,
    },
  }),
};
