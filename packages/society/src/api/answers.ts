/** What the tools about agents are given and answer, as an app reads them. Times are texts in UTC. */
import type { AgentStatus, AgentType, Capabilities, CapabilityChange, Subscription, Tier } from '../pure/index.js';

/** States an agent that is to be registered. */
export interface AgentRegister {
  readonly agent_type: AgentType;
  readonly display_name: string;
  /** What it may do: an absent dimension is its parent's. */
  readonly capabilities: Capabilities;
  /** What it may hand on; absent: the same. */
  readonly grant?: Capabilities;
  /** The tier below which verdicts do not take it. */
  readonly trust_floor?: Tier;
  /** Whether what it brings back may be merged without a review, where nothing speaks against it. */
  readonly automerge?: boolean;
  readonly subscriptions?: readonly Subscription[];
  /** The base64 of a public key that the agent has already, and its signature of the purpose `register` over the parent's id. */
  readonly public_key?: string;
  readonly proof?: string;
}

/** A registered agent. */
export interface RegisteredAgent {
  /** The hex SHA-256 of its public key. */
  readonly agent_id: string;
  readonly public_key: string;
  /** The private key, encrypted for the parent; null when the parent has no key to encrypt it for. */
  readonly private_key_encrypted: string | null;
  /** Where the vault keeps the private key. */
  readonly key_ref?: string;
  readonly status: AgentStatus;
  readonly capabilities: Capabilities;
  readonly expires_at: string | null;
}

/** An agent in a list. */
export interface AgentRow {
  readonly agent_id: string;
  readonly parent_entity_id: string;
  readonly agent_type: AgentType;
  readonly display_name: string;
  readonly created_at: string;
  readonly public_key: string;
  readonly status: AgentStatus;
  readonly expires_at: string | null;
}

/** A change of capabilities, and of what goes with them. */
export interface CapabilityUpdate {
  readonly capabilities?: CapabilityChange;
  readonly grant?: CapabilityChange;
  readonly trust_floor?: Tier;
  readonly automerge?: boolean;
  /** Groups that count in the highest tier of trust. */
  readonly bonus_groups?: readonly string[];
  /** Refuses the change when the capabilities have been changed since. */
  readonly expected_revision?: number;
}

/** What the answer about an agent says when the agent's own cell has failed: it was done from above, by a hold. */
export interface FailedCell {
  readonly cell?: 'failed';
  /** The code of the fault. */
  readonly code?: string;
}

/** What an agent may do. Of an agent whose own cell has failed it says what was taken back, and revision 0. */
export interface CapabilityReport extends FailedCell {
  readonly agent_id: string;
  readonly declared: Capabilities;
  /** What counts in the end; groups are those whose stores it reaches. */
  readonly effective: Capabilities;
  /** The nearest entity above that narrows a dimension. */
  readonly limited_by: readonly { readonly ancestor: string; readonly dimension: string }[];
  readonly revision: number;
  /** Only with `cell: 'failed'`. */
  readonly status?: AgentStatus;
}

/** The status of an agent after a change. */
export interface StatusReport extends FailedCell {
  readonly agent_id: string;
  readonly status: AgentStatus;
  /** Why it has this status, and when its time ends; not of one that was deactivated. */
  readonly reason?: string;
  readonly expires_at?: string | null;
  /** Until when a deactivated agent may come back. */
  readonly grace_until?: string;
  /** What its parent reads by `memory.read`: what the agent was about. */
  readonly archive_item_id?: string;
}
