/** What the tools about agents are given and answer, as an app reads them. Times are texts in UTC. */
import type { ToolAnswer, ToolArgs } from '../wire/index.js';

/** An answer about an agent whose time may have no end: null. */
type Ending<A> = Omit<A, 'expires_at' | 'refused_subscriptions'> & { readonly expires_at: string | null };

/**
 * States an agent that is to be registered: what it may do, where an absent dimension is its parent's; what it may hand on,
 * the same where absent; the tier below which verdicts do not take it; whether what it brings back may be merged without a
 * review; and a public key that it has already, with its signature of the purpose `register` over the parent's id.
 */
export type AgentRegister = Omit<ToolArgs<'agent_register'>, 'parent_entity_id' | 'command_id'>;

/** What the registration of an agent answers. Its private key is encrypted for the parent; null when that has no key. */
export type RegisteredAgent = Ending<ToolAnswer<'agent_register'>>;

/** An agent in a list. */
export type AgentRow = Ending<ToolAnswer<'agent_list'>['agents'][number]>;

/** A change of capabilities, and of what goes with them; refused when they have been changed since `expected_revision`. */
export type CapabilityUpdate = Omit<ToolArgs<'agent_capabilities'>, 'agent_id' | 'subscriptions' | 'command_id'>;

/**
 * What an agent may do: declared, and what counts in the end, with the nearest entity above that narrows a dimension. Of an
 * agent whose own cell has failed (`cell: 'failed'`) it says what was taken back, its status before, and revision 0.
 */
export type CapabilityReport = ToolAnswer<'agent_capabilities'>;

/**
 * The status of an agent after a change: why it has it, and when its time ends. Of one that was deactivated, until when it
 * may come back, and the item of `memory.read` with what it was about.
 */
export type StatusReport = ToolAnswer<'agent_set_status'> & Partial<ToolAnswer<'agent_deactivate'>>;
