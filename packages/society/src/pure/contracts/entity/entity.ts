/** An entity as a cell: a person or an agent, its record, its tables, and the facts from which every view is drawn. */

import { agentAdopted, userInput } from '@reprise/agent/contracts';
import {
  actor,
  address,
  capability,
  digestHex,
  inputPart,
  keyText,
  patterns,
  ref,
  rights,
  value,
} from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, from, fromAll } from '@reprise/kernel/define';
import { makingTables, memoryFacts, memoryTables, restEvent, restTables, waitingCall } from '@reprise/org/contracts';
import { capabilities } from '../agent/capability.js';
import { failedNews, revivedNews } from '../agent/failed.js';
import { agentKey, erasedContent, publicKey } from '../agent/identity.js';
import { AGENT_STATUSES, AGENT_TYPES, ENTITY, L1, SOCIETY_BOUNDS, SWARM } from '../cell/names.js';
import { childAgent, makerCell, namedGroup, ownSwarm } from '../cell/senders.js';
import { agentId, entityId, nameId, outcomeOf, role, tier } from '../cell/statement.js';
import { toldAbove } from '../memory/l1.js';
import { itemId, MEMORY_BOUNDS } from '../memory/tools.js';
import { displayName } from './agent-tools.js';

const count = z.int().min(0);
const stamp = count;

/** Why an agent changed its status. */
export const STATUS_REASONS = [
  'started',
  'operated',
  'asked',
  'failures',
  'rate_limit',
  'ancestor',
  'cooled_down',
  'ttl',
  'session_closed',
  'swarm_over',
  'grace_over',
] as const;

/** Why an agent changed its status. */
export type StatusReason = (typeof STATUS_REASONS)[number];

/** A time of grace in milliseconds, up to a year. */
export const graceMs = z
  .int()
  .min(0)
  .max(366 * 86_400_000);

/** The entities above an agent: its parent first, the person last; empty for a person. */
export const lineage = z.array(entityId).max(SOCIETY_BOUNDS.depth);

/** The entity that narrows a dimension of what may be handed on: the nearest one above. */
export const aboveLimits = z.record(z.string().max(32), entityId);

/** What is promised to an agent: its capabilities as they were stated, and those that it may grant; null for the same. */
const promised = {
  declared: capabilities,
  granted: z.nullable(capabilities),
  trust_floor: tier,
  automerge: z.boolean(),
  expires_at: z.nullable(stamp),
};

/** What an entity hands on to its agents and swarms. */
export const inherited = {
  /** The cell of the app that answers the app's own owner tools; null for none. */
  app: z.nullable(address),
  /** How long an agent may come back after its end, unless the deactivation states another time; in milliseconds. */
  grace_ms: graceMs,
};

/** What is stated about an agent when it is made: with it the agent and its maker compile the same rights. */
export const agentRecord = z.strictObject({
  agent_id: agentId,
  agent_type: z.enum(AGENT_TYPES),
  display_name: displayName,
  /** The entity that it is shown below: its maker, or the creator of the swarm that made it. */
  parent_entity_id: entityId,
  /** All entities above it, the maker first. */
  lineage,
  /** How many agents stand above it, itself counted. */
  depth: z.int().min(1).max(SOCIETY_BOUNDS.depth),
  public_key: z.string().min(1).max(128),
  /** Where the private key is kept; null for a key that the agent brought. */
  key_ref: z.nullable(z.string().max(128)),
  ...promised,
  ...inherited,
  /** The group of the swarm whose worker it is. */
  swarm_group: z.nullable(nameId),
  /** What its maker may hand on, and which entity narrows each dimension of it. */
  above: capability,
  limits: aboveLimits,
});

/** What is stated about an agent when it is made. */
export type AgentRecord = z.infer<typeof agentRecord>;

/**
 * Rights that an agent has compiled anew, and the number of operations that it may have at once; null for any. `ask` numbers
 * the requests of the agent. With `cut` the maker sets of them what it may.
 */
const compiled = z.strictObject({ rights, ask: count, parallel: z.nullable(z.int().min(1)), cut: z.boolean() });

/** The state of an entity. */
export const entityState = z.strictObject({
  kind: z.enum(['person', ...AGENT_TYPES]),
  display_name: displayName,
  parent_entity_id: z.nullable(entityId),
  /** The cell that made it and sets its rights: its parent's entity, or a swarm; null for a person. */
  maker: z.nullable(address),
  /** All entities above it, the maker first. */
  lineage,
  depth: count,
  public_key: z.nullable(z.string().max(128)),
  key_ref: z.nullable(z.string().max(128)),
  /** The X25519 public key for which the private keys of its agents are encrypted; absent until it has registered one. */
  reader_key: z.exactOptional(publicKey),
  created_at: stamp,
  status: z.enum(AGENT_STATUSES),
  /** Whether its rights stand: an agent does nothing before. */
  started: z.boolean(),
  /** Counts the changes of status: timers of an earlier one mean nothing. */
  epoch: count,
  reason: z.enum(STATUS_REASONS),
  /** Who suspended it, for what: only that entity or one above it resumes it. */
  suspended: z.nullable(
    z.strictObject({
      by: z.nullable(entityId),
      /** How deep that entity stands; above all others for a suspension that any ancestor ends. */
      depth: count,
      reason: z.enum(STATUS_REASONS),
    }),
  ),
  grace_until: z.nullable(stamp),
  ...promised,
  ...inherited,
  bonus_groups: z.array(nameId).max(16),
  /** Counts the changes of declared capabilities. */
  revision: count,
  swarm_group: z.nullable(nameId),
  /** The tier that the parent's verdicts give. */
  tier,
  emcon: z.boolean(),
  /** Whether its maker, whose cell had failed or which had less itself, has still to set rights that became wider. */
  waits_for_maker: z.boolean(),
  /** Counts the requests for rights to its maker. */
  asks: count,
  /** The last of these requests until it is answered, and whether the maker is to cut what exceeds its own rights. */
  asking: z.nullable(z.strictObject({ ask: count, rights, cut: z.boolean() })),
  /** What it had when it asked, until the maker has set something: what it shows as effective. Null for all that follows. */
  stands: z.nullable(rights),
  /** When its rights became narrower for the last time; 0 for never. */
  narrowed_at: stamp,
  /** The stamp of the last arrival of what an agent brought back: no two have the same. */
  staged_at: stamp,
  /** The times of the failed operations that count. */
  failures: z.array(stamp).max(SOCIETY_BOUNDS.failures),
  /** Whether the parent agent is active; a person always is. */
  parent_active: z.boolean(),
  /** Whether an agent above was removed: it has ended, and nobody can bring it back. */
  orphaned: z.boolean(),
  /** Agents that it made and that were not removed. */
  children: count,
  /** Calls that wait for an answer. */
  calls: count,
  /** The change of capabilities whose rights are being set: what is restored when they are refused. */
  changing: z.nullable(
    z.strictObject({
      call: z.nullable(z.string().max(64)),
      ask: count,
      ...promised,
      bonus_groups: z.array(nameId).max(16),
    }),
  ),
});

/** The state of an entity. */
export type EntityState = z.infer<typeof entityState>;

/** An agent as its maker knows it. */
export const agentEntry = z.strictObject({
  agent_type: z.enum(AGENT_TYPES),
  display_name: displayName,
  created_at: stamp,
  public_key: z.string().max(128),
  key_ref: z.nullable(z.string().max(128)),
  status: z.enum(AGENT_STATUSES),
  expires_at: z.nullable(stamp),
  grace_until: z.nullable(stamp),
});

/** Where a call came from: it is answered there. */
export const callOrigin = z.discriminatedUnion('kind', [
  /** A person or a client outside, by a request. */
  z.strictObject({ kind: z.literal('request'), call_id: z.string().min(1).max(128), actor }),
  /** A model, by its session or the job of it. */
  z.strictObject({
    kind: z.literal('owner'),
    ...waitingCall.shape,
  }),
  /** An entity above this one, about this one. */
  z.strictObject({
    kind: z.literal('ancestor'),
    by: entityId,
    depth: count,
    call: z.string().max(64),
    actor,
    /** The bytes that the answer may have. */
    bytes: z.int().min(1),
  }),
]);

/** Where a call came from. */
export type CallOrigin = z.infer<typeof callOrigin>;

/** The tables of an entity. */
export const entityCoreTables = {
  /** What its maker may hand on: patterns by dimension, and the numbers under `bounds`. One entry has at most 16 KiB. */
  above: z.union([
    patterns,
    z.strictObject({ expires_at: z.nullable(stamp), max_parallel: z.nullable(count), limits: aboveLimits }),
  ]),
  /** The roles of the entity, by group. */
  memberships: role,
  /** The agents that it made, by id. */
  children: agentEntry,
  /** The archives of deactivated agents, by id: the item that keeps it, or why it was not kept; neither while it is written. */
  archives: z.strictObject({ item: z.nullable(itemId), code: z.nullable(z.string().max(96)) }),
  /** Agents that were removed below, by id, until their keys and hot contexts are gone: how often that failed. */
  clearing: z.strictObject({ key_ref: z.nullable(z.string().max(128)), failures: count }),
  /** Calls that wait, under a digest of their origin. */
  calls: z.strictObject({
    origin: callOrigin,
    /** Repetitions of a command that wait for the same answer. */
    also: z.array(callOrigin).max(8),
    name: z.string().max(64),
    /** Its arguments: parsed when the call was taken, and kept so. */
    args: value(),
    /** The private key of the agent that it registers, encrypted for the caller; null without one. */
    private_key_encrypted: z.nullable(z.string().max(1_024)),
  }),
  /** What plans that are under way are for, by number. */
  plans: z.discriminatedUnion('for', [
    z.strictObject({ for: z.literal('call'), call: z.string().max(64) }),
    /** What an agent that was removed leaves is cleared. */
    z.strictObject({ for: z.literal('removal'), agent_id: agentId }),
    /** What an agent brought back is compared with its targets, or written to them. */
    z.strictObject({ for: z.literal('return'), staging: z.string().max(128) }),
    /** An input waits for what the entity may see. */
    z.strictObject({ for: z.literal('input'), command_id: z.string().max(128) }),
    z.strictObject({ for: z.literal('news') }),
  ]),
  /** Sessions, by the name that the entity gave them. */
  sessions: z.strictObject({
    agent: z.string().max(128),
    /** The digest of its definition; null while it is not known which one it has taken last. */
    def: z.nullable(digestHex()),
    open: z.boolean(),
    /** Whether a run is under way, as far as the session has said: only then it takes what is to be shown at a next step. */
    running: z.boolean(),
  }),
  /** Inputs whose session takes another definition first, by the digest of their id. */
  adopting: z.strictObject({
    session: z.string(),
    agent: z.string().max(128),
    def: digestHex(),
    input: userInput.omit({ allowance: true }),
  }),
  ...makingTables,
  ...memoryTables,
  ...restTables,
};

/** The bytes of a session's name: its key has the entity's id before it. */
const SESSION_NAME_BYTES_MAX = 100;

/** An input for an agent that the entity runs as: in a session that the entity makes and owns. */
export const send = z.strictObject({
  command_id: z.string().min(1).max(128),
  session: keyText(SESSION_NAME_BYTES_MAX),
  name: z.string().min(1).max(128),
  agent: agentAdopted.pick({ def_ref: true, config: true, agents: true }),
  parts: z.array(inputPart).min(1).max(16),
  priority: z.int().min(-1000).max(1000),
});

/** The commands of people, apps and clients outside: also of those that act as the entity itself. */
export const entityCommands = fromAll(
  {
    /** A call of a tool of the society. Long texts are links. */
    'society/Call@1': z.strictObject({
      call_id: z.string().min(1).max(128),
      name: z.string().min(1).max(64),
      args: value(),
    }),
    'society/Send@1': send,
  },
  by.outside,
  by.ownRequest,
);

/** The archive item of an agent: its id, the item that keeps it, and why it was not written. */
const archiveKept = z.strictObject({
  key: z.string().max(128),
  item: z.nullable(itemId),
  code: z.nullable(z.string().max(96)),
});

/** A removed agent, and the name of its key in the vault; null for a key of its own. */
const removedAgent = z.strictObject({ agent_id: agentId, key_ref: z.nullable(z.string().max(128)) });

/** The events between the cells of a society, and from plans. */
export const entityNews = {
  /** The gate's verdict on a call: why it denied it, and whether that was the group and not the tool. */
  'society/Checked@1': from(outcomeOf(z.literal('group')), by.ownPlan),
  /** A key pair was made, or could not be. */
  'society/Keyed@1': from(outcomeOf(agentKey), by.ownPlan),
  /**
   * Makes an agent, which does nothing until its rights stand: by the entity that it names as its parent, or by a swarm,
   * which names its creator.
   */
  'society/Make@1': creates(
    from(agentRecord, by.cell({ reducer: ENTITY, key: [{ event: 'parent_entity_id' }] }), by.above(SWARM)),
  ),
  /** Makes a person: by the operator, before it acts. */
  'society/Human@1': creates(
    from(
      z.strictObject({
        display_name: displayName,
        root: capabilities,
        above: capability,
        ...inherited,
      }),
      by.outside,
    ),
  ),
  ...fromAll(
    {
      /** The maker lets an agent begin: its rights stand. */
      'society/Start@1': z.strictObject({}),
      /** The maker takes back an agent that has not begun. */
      'society/Unmake@1': z.strictObject({}),
      /** The rights that an agent compiled stand, or were refused. */
      'society/RightsStand@1': z.strictObject({ ask: count, code: z.nullable(z.string().max(96)) }),
      /** What the maker may hand on. */
      'society/Above@1': z.strictObject({ grant: capability, limits: aboveLimits }),
      /** The parent agent is active, or is not; once it was removed, all below it end. */
      'society/ParentStatus@1': z.strictObject({
        active: z.boolean(),
        removed: z.boolean(),
        by: entityId,
        depth: count,
      }),
    },
    makerCell,
  ),
  /** An entity above asks this one to act on itself. */
  'society/Ask@1': from(
    z.strictObject({
      call: z.string().max(64),
      /** How deep that entity stands. */
      depth: count,
      name: z.string().max(64),
      args: value(),
      /** Who called at the entity that asks. */
      actor,
      /** The bytes that the answer may have. */
      bytes: z.int().min(1),
      /** It was missed by an agent that was revived: it waits for a change that is under way, which refuses others. */
      missed: z.exactOptional(z.literal(true)),
    }),
    by.above(ENTITY),
  ),
  /** The answer to it: from the agent itself, or from its hot context. */
  'society/Told@1': from(toldAbove, childAgent, by.cell({ reducer: L1, key: [{ event: 'agent_id' }] })),
  /** An agent has compiled its rights anew: its maker sets them. */
  'society/Compiled@1': from(compiled, childAgent),
  /** Follows the command that sets them: what was refused is known by then. */
  'society/RightsSet@1': from(z.strictObject({ agent_id: agentId, ask: count }), by.self),
  /** An agent tells its maker its status, and when it ends. */
  'society/ChildStatus@1': from(
    z.strictObject({
      status: z.enum(AGENT_STATUSES),
      expires_at: z.nullable(stamp),
      grace_until: z.nullable(stamp),
    }),
    childAgent,
  ),
  /** A group tells a member its role; null when it is no member any more. */
  'society/Membership@1': from(
    z.strictObject({
      group: nameId,
      role: z.nullable(role),
      /** The cell that asked the group for it; null for the app. */
      by: z.nullable(address),
    }),
    namedGroup,
  ),
  /** An entity above asks this one to lead a swarm that it creates. */
  'society/Lead@1': from(z.strictObject({ swarm_id: nameId, group: nameId }), by.above(ENTITY)),
  /** What a deactivated agent was about was kept, or could not be. */
  'society/Archived@1': from(archiveKept, by.ownPlan),
  /** An agent was removed: who may act clears what it leaves. It goes up from maker to maker until there is one. */
  'society/Removed@1': from(removedAgent, childAgent, ownSwarm),
  /** What a removed agent left was cleared, or could not be. */
  'society/Cleared@1': from(
    z.strictObject({
      agent_id: agentId,
      code: z.nullable(z.string().max(96)),
      content: z.nullable(erasedContent),
    }),
    by.ownPlan,
  ),
  ...restEvent,
  ...failedNews,
  ...revivedNews,
};

/** The facts of an entity. */
export const entityCoreFacts = {
  'society/Registered@1': z.strictObject({
    agent_id: entityId,
    parent_entity_id: z.nullable(entityId),
    kind: z.enum(['person', ...AGENT_TYPES]),
    public_key: z.nullable(z.string().max(128)),
    depth: count,
    expires_at: z.nullable(stamp),
  }),
  'society/StatusChanged@1': z.strictObject({
    agent_id: entityId,
    old: z.enum(AGENT_STATUSES),
    new: z.enum(AGENT_STATUSES),
    reason: z.enum(STATUS_REASONS),
    epoch: count,
    /** Who asked for it; absent where nobody did: its time, its failures, its parent. */
    by: z.exactOptional(actor),
  }),
  /** What an agent may do was changed by an entity above. */
  'society/CapabilitiesChanged@1': z.strictObject({ agent_id: entityId, by: actor }),
  /** The answer to a request. */
  'society/Answered@1': z.strictObject({
    call_id: z.string().max(128),
    value: value(),
    refs: z.array(z.strictObject({ label: z.string().max(64), ref: ref() })).max(MEMORY_BOUNDS.stores),
    is_error: z.boolean(),
  }),
  /** A session could not be made with the rights of its entity: its first input was not taken. */
  'society/InputRefused@1': z.strictObject({ command_id: z.string().max(128), code: z.string().max(96) }),
  'society/ArchiveKept@1': archiveKept,
  /** The content of a removed agent's hot context was erased; what other cells link as well was not. */
  'society/HotContextErased@1': z.strictObject({ agent_id: agentId, ...erasedContent.shape }),
  ...memoryFacts,
};
