/** What the tools about agents and swarms are given and answer, as an app states and reads it. Times are texts in UTC. */

import type { Duration } from '@reprise/agent';
import { type Principal, requireArgument, requireFields } from '@reprise/contracts';
import { type Camel, wire } from '@reprise/org';
import type { ToolAnswer, ToolArgs } from '../wire/index.js';

export type { ToolAnswer as SocietyAnswer } from '../wire/index.js';

/** An answer about an agent whose time may have no end: null. */
type Ending<A> = Omit<A, 'expires_at' | 'refused_subscriptions'> & { readonly expires_at: string | null };

/**
 * States an agent that is to be registered: what it may do, where an absent dimension is its parent's; what it may hand on,
 * the same where absent; the tier below which verdicts do not take it; whether what it brings back may be merged without a
 * review; and a public key that it has already, with its signature of the purpose `register` over the parent's id.
 */
export type AgentRegister = Camel<RecordedRegister>;

/** The same, as the tool takes it. */
export type RecordedRegister = Omit<ToolArgs<'agent_register'>, 'parent_entity_id' | 'command_id'>;

/** What the registration of an agent answers. Its private key is encrypted for the parent; null when that has no key. */
export type RegisteredAgent = Ending<ToolAnswer<'agent_register'>>;

/** An agent in a list. */
export type AgentRow = Ending<ToolAnswer<'agent_list'>['agents'][number]>;

/** A change of capabilities, and of what goes with them; refused when they have been changed since `expectedRevision`. */
export type CapabilityUpdate = Camel<RecordedUpdate>;

/** The same, as the tool takes it. */
export type RecordedUpdate = Omit<ToolArgs<'agent_capabilities'>, 'agent_id' | 'subscriptions' | 'command_id'>;

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

/** A swarm that is to be created: its goal, its strategy, and its agents by slots. */
export type SwarmManifest = Camel<Omit<RecordedManifest, 'agents'>> & { readonly agents: readonly Camel<Slot>[] };

type RecordedManifest = Omit<ToolArgs<'swarm_create'>, 'command_id'>;
type Slot = RecordedManifest['agents'][number];

/** A manifest as the tool takes it. */
export function recordedManifest(stated: SwarmManifest): RecordedManifest {
  requireFields(stated, 'createSwarm(manifest)', 'the manifest of a swarm');
  const { agents, ...manifest } = stated;
  requireArgument(Array.isArray(agents), 'createSwarm(manifest.agents)', 'a list of slots', agents);
  const slots = agents.map((slot) => wire<Slot>(slot, 'createSwarm'));
  return { ...wire<Omit<RecordedManifest, 'agents'>>(manifest, 'createSwarm'), agents: slots };
}

/** The trust of an observer in an agent. */
export type TrustScore = ToolAnswer<'memory_assess'>;

/**
 * What is stated about an item, and what it rests on: a person, another source, or what came true. `retract` takes an
 * earlier verdict back; `evidenceRef` names evidence in words that can be erased.
 */
export type Verdict = Camel<RecordedVerdict>;

/** The same, as the tool takes it. */
export type RecordedVerdict = Omit<ToolArgs<'memory_assess'>, 'item_id' | 'command_id'>;

/** Makes tokens for principals: `bearerTokens(world, { secret })` of `reprise/server` is one. */
export interface TokenIssuer {
  issue(principal: Principal, options: { readonly for: Duration }): Promise<string>;
}

/** A challenge for an agent, which it signs once and before it expires: within 60 seconds. */
export type Challenge = ToolAnswer<'agent_challenge'>;

/** The outcome of a proof. A proof that does not hold is a refusal. */
export interface Proved {
  readonly agent_id: string;
  readonly verified: boolean;
  /** For the purpose `api`, in a world that makes tokens: it is stored nowhere. */
  readonly token?: string;
  /** When the token ends; null for another purpose. */
  readonly expires_at: string | null;
}
