/** What an audit of a society reports: every agent as the journal shows it, and what it finds wrong. */
import type { Actor, Capability, Value } from '@reprise/contracts';
import type { AgentStatus, AgentType, Capabilities, Purpose, StatusReason } from '../pure/contracts/index.js';

/** What an audit can find, each with its meaning. The list is closed. */
export const AUDIT_PROBLEMS = {
  // SOC-6
  id_not_of_key: 'the id of the agent is not the SHA-256 of its public key',
  // SOC-5
  key_not_proved: 'neither was the key made for this agent by its maker, nor did the agent prove that it has it',
  // SOC-8
  key_without_agent: 'a key pair was made that no registration took',
  // SOC-9
  verdict_forged: 'the recorded verdict on a proof is not the one that its signature gives',
  // SOC-9
  challenge_unknown: 'a proof answers a challenge that was not drawn for this agent and purpose',
  // SOC-9
  challenge_reused: 'a proof answers a challenge that an earlier proof has answered',
  // SOC-9
  challenge_late: 'a proof answers a challenge more than 60 seconds after it was drawn',
  // SOC-4
  parent_forged: 'the agent was not made by the entity that it names as its parent, or by a swarm of it',
  // SOC-2
  record_differs: 'the agent began with another record than it was made with',
  // SOC-7
  began_without_rights: 'the agent began before rights of its own stood: it had those of its maker',
  // CAP-2
  rights_above_maker: 'rights were set that exceed what the maker of the agent may hand on',
  // SOC-13
  chain_broken: 'a step of the hot context does not follow from the one before',
  // SOC-13
  link_forged: 'a link of the chain is not the digest of what the entity wrote',
  // SOC-35
  status_broken: 'a change of status does not follow from the one before',
  // SOC-37
  acted_after_end: 'the gate let the agent act after it was deactivated',
} as const satisfies Readonly<Record<string, string>>;

/** What an audit can find. */
export type AuditCode = keyof typeof AUDIT_PROBLEMS;

/** A frame, and the time of it in milliseconds since 1970. */
export interface AuditPlace {
  readonly seq: number;
  readonly at: number;
}

/** A cell that has failed: it takes no events until it is revived. */
export interface FailedCell {
  /** The address of its cell, as text. */
  readonly cell: string;
  /** The code of the fault. */
  readonly code: string;
  readonly failed: AuditPlace;
}

/** Something that an audit found wrong. */
export interface AuditProblem {
  readonly code: AuditCode;
  /** The agent, or the key's agent; null where no agent is known. */
  readonly agent_id: string | null;
  /** The frame, and the index of the record in it. */
  readonly seq: number;
  readonly i: number;
  readonly expected: Value;
  readonly actual: Value;
}

/** Where the key of an agent comes from. */
export interface AuditedKey {
  readonly public_key: string;
  /** The name of the private half in a vault; null for a key that the agent brought. */
  readonly key_ref: string | null;
  /** The frame with the key's receipt, or with the verdict on the agent's proof; null for neither. */
  readonly proved: AuditPlace | null;
  /** When its private half was destroyed. */
  readonly destroyed: AuditPlace | null;
}

/** A proof of identity, as it was recorded and as its signature says. */
export interface AuditedProof extends AuditPlace {
  readonly purpose: Purpose;
  readonly nonce: string;
  /** The recorded outcome: `verified`, why it was refused, or how the effect ended without a verdict; null while it is open. */
  readonly recorded: string | null;
  /** What the signature says now: as recorded, or `content_gone` when a signed text was erased since. */
  readonly checked: string;
}

/** A change of rights that stood. */
export interface AuditedRights extends AuditPlace {
  /** Who set them: a principal, or `fork` for what a fork inherits. */
  readonly by: string;
  /** Both sides from then on; null for a side that is not narrowed. */
  readonly exercise: Capability | null;
  readonly grant: Capability | null;
}

/** A change of rights that was refused. */
export interface AuditedRefusal extends AuditPlace {
  readonly by: string;
  readonly code: string;
}

/** A step of an agent's hot context. */
export interface AuditedLink extends AuditPlace {
  readonly version: number;
  readonly cause: string;
  readonly chain_hash: string;
  readonly session_count: number;
}

/** A change of an agent's status. */
export interface AuditedStatus extends AuditPlace {
  readonly old: AgentStatus;
  readonly new: AgentStatus;
  readonly reason: StatusReason;
  /** The entity above that asked for it; null when none did, or when the record of it stands in an earlier frame. */
  readonly by: string | null;
  /** Who acted in the name of that entity; null where nobody did: its time, its failures, its parent. */
  readonly actor: Actor | null;
}

/** How often something was done, or refused. */
export interface AuditedUse {
  /** Effects that the gate allowed to the agent and its sessions, by kind, with how many of them ended well. */
  readonly effects: readonly { readonly kind: string; readonly allowed: number; readonly ok: number }[];
  /** The tools of the society that the agent called and that the gate allowed. */
  readonly tools: readonly { readonly tool: string; readonly calls: number }[];
  /** What the gate refused, with the code. */
  readonly denied: readonly { readonly what: string; readonly code: string; readonly times: number }[];
}

/** An agent, as the journal shows it. */
export interface AuditedAgent {
  readonly agent_id: string;
  readonly agent_type: AgentType;
  readonly display_name: string;
  readonly parent_entity_id: string;
  /** The cell that made it: its parent's entity, or a swarm. */
  readonly maker: string;
  readonly depth: number;
  readonly made: AuditPlace;
  readonly expires_at: number | null;
  readonly key: AuditedKey;
  readonly proofs: readonly AuditedProof[];
  /** The capabilities as they were declared when it was made. */
  readonly declared: Capabilities;
  readonly rights: readonly AuditedRights[];
  readonly refused_rights: readonly AuditedRefusal[];
  /** What it may do at the end of the journal, over the whole chain above it; its ends by time not regarded. */
  readonly effective: Capability;
  readonly links: readonly AuditedLink[];
  readonly use: AuditedUse;
  readonly statuses: readonly AuditedStatus[];
  readonly status: AgentStatus;
}

/** A key pair that was made for a registration which was refused or given up afterwards. A vault destroys it when its world is opened. */
export interface UnusedKey extends AuditPlace {
  readonly agent_id: string;
  readonly key_ref: string;
  readonly destroyed: AuditPlace | null;
}

/** The report of an audit. The same frames give the same report. */
export interface AuditReport {
  /** The id of the world; of a fork, its own. */
  readonly world: string;
  /** The last frame that was read, and the digest of the chain of frames after it. */
  readonly head: { readonly seq: number; readonly digest: string };
  readonly people: readonly { readonly entity_id: string; readonly made: AuditPlace }[];
  /** The agents that have begun, the oldest first. */
  readonly agents: readonly AuditedAgent[];
  readonly unused_keys: readonly UnusedKey[];
  /** The cells of the world that have failed and were not revived, in the order of their faults. */
  readonly failed_cells: readonly FailedCell[];
  /** In the order of frames. */
  readonly problems: readonly AuditProblem[];
}
