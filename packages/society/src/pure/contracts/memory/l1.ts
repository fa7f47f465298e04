/**
 * The hot context of an entity: what it is working on, for its next session. Every text in it is behind a link to content
 * that can be erased; the cell itself holds links, numbers and what the entity's record says.
 */
import { digestHex, NOTICES, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, from } from '@reprise/kernel/define';
import { optional } from '@reprise/org/contracts';
import { agentSession } from '../agent/failed.js';
import { AGENT_STATUSES, AGENT_TYPES, ENTITY, L1, NAME_ID, SWARM } from '../cell/names.js';
import { ownEntity, parentEntity } from '../cell/senders.js';

const count = z.int().min(0);
const id = z.string().regex(NAME_ID);

/** The answer of an agent to an entity above it. */
export const toldAbove = z.strictObject({
  to: id,
  /** The id of the agent that answers. */
  agent_id: id,
  call: z.string().max(64),
  value: value(),
  is_error: z.boolean(),
});

/** The bytes of a hot context: of its linked contents, its identity and its capabilities together. */
export const L1_BYTES_MAX = 48 * 1024;

/** The fields of a hot context whose content is linked. Those of `agent` stand beside the others. */
export const L1_FIELDS = [
  'active',
  'prefs',
  'delegation',
  'ephemeral',
  'goal',
  'context',
  'findings',
  'working_memory',
] as const;

/** A field of a hot context. */
export type L1Field = (typeof L1_FIELDS)[number];

/** The fields that an agent writes. A person, who has no parent, also writes `prefs` and `delegation`. */
export const AGENT_FIELDS: readonly L1Field[] = L1_FIELDS.filter((one) => one !== 'prefs' && one !== 'delegation');

/** A field: a link to its JSON, and the bytes of it. */
const l1Part = z.strictObject({ ref: ref(), bytes: z.int().min(0).max(1_000_000) });

const fields = z.strictObject(eachField(z.nullable(l1Part)));

/** A hot context in which nothing was written. */
export const NO_FIELDS: z.infer<typeof fields> = eachField(null);

function eachField<V>(value: V): { readonly [F in L1Field]: V } {
  return Object.fromEntries(L1_FIELDS.map((field) => [field, value])) as { readonly [F in L1Field]: V };
}

/** A change of a hot context: an absent field stays, null empties one. */
export const l1Patch = z.strictObject({
  ...optional(fields.shape),
  /** How far the task is, in millionths. */
  progress_ppm: z.exactOptional(z.nullable(z.int().min(0).max(1_000_000))),
  /** Fields that were asked for and are not the entity's to write, such as `identity`. */
  refused: z.exactOptional(z.array(z.string().max(64)).max(16)),
});

/** A change of a hot context. */
export type L1Patch = z.infer<typeof l1Patch>;

/** The chain of an entity's sessions: the digest of its last link, and how many sessions have begun. */
export const chain = z.strictObject({ hash: digestHex(), count });

/** A link of the chain, and when this world came to know it. */
export const chainLink = z.strictObject({ ...chain.shape, at: count });

/** A link of the chain. */
export type ChainLink = z.infer<typeof chainLink>;

/** The links of its chain that a hot context still knows, beside the one of the last return. */
export const LINKS_MAX = 16;

/** The state of a hot context. */
export const l1State = z.strictObject({
  version: count,
  updated_at: count,
  parent_entity_id: z.nullable(id),
  agent_type: z.nullable(z.enum(AGENT_TYPES)),
  identity: z.strictObject({ display_name: z.string().max(120), public_key: z.nullable(z.string().max(128)) }),
  fields,
  progress_ppm: z.nullable(z.int().min(0).max(1_000_000)),
  chain,
  /** The link of the chain that the entity's parent knows from a return; null before the first. */
  synced: z.nullable(chainLink),
  /** The last links of the chain: what left this world at one of them has a base that it knows. */
  links: z.array(chainLink).max(LINKS_MAX),
});

/** The link with a hash, if the hot context knows it. */
export function knownLink({ synced, links }: Pick<L1State, 'synced' | 'links'>, hash: string): ChainLink | undefined {
  return synced?.hash === hash ? synced : links.find((link) => link.hash === hash);
}

/** The state of a hot context. */
export type L1State = z.infer<typeof l1State>;

/** The tables of a hot context. */
export const l1Tables = {
  /** `capabilities`, its only entry, as they are declared. */
  record: value(),
  /** The open sessions of an agent, and the groups whose member it is: for the time when the agent's cell has failed. */
  sessions: z.null(),
  groups: z.null(),
} as const;

const identity = l1State.shape.identity;

/** The events of a hot context. Its entity sends them; the parent of an agent may read. */
export const l1Commands = {
  /** Opens the hot context of an entity that begins. */
  'society/OpenL1@1': creates(
    from(
      z.strictObject({
        parent_entity_id: z.nullable(id),
        agent_type: z.nullable(z.enum(AGENT_TYPES)),
        identity,
        capabilities: value(),
      }),
      ownEntity,
    ),
  ),
  /** What the entity states about itself: its name, its key, its capabilities. */
  'society/IdentifyL1@1': from(
    z.strictObject({ identity: z.exactOptional(identity), capabilities: z.exactOptional(value()) }),
    ownEntity,
  ),
  /** Changes fields, when the version is the one that the entity has read. */
  'society/WriteL1@1': from(
    z.strictObject({ call: z.string().max(64), patch: l1Patch, expected_version: count }),
    ownEntity,
  ),
  /** Reads all of the hot context, for its archive. */
  'society/ReadL1@1': from(z.strictObject({ call: z.string().max(64) }), ownEntity, parentEntity),
  /** The entity has an answer passed on, to an entity further up than its maker. */
  'society/PassTold@1': from(toldAbove, ownEntity),
  /** A session of the entity starts or ends: the chain moves. */
  'society/SessionL1@1': from(z.strictObject({ phase: z.enum(['start', 'end']) }), ownEntity),
  /** An agent opens or closes a session, or becomes or ceases to be a member of a group. */
  'society/AgentSession@1': from(agentSession, ownEntity),
  'society/AgentGroup@1': from(z.strictObject({ group: id, member: z.boolean() }), ownEntity),
  /** The agent tells anew what it told while this cell had failed: its open sessions and its groups follow. */
  'society/TellAnew@1': from(z.strictObject({ capabilities: value() }), ownEntity),
  'sys/Revived@1': NOTICES['sys/Revived@1'],
  /** The cell of the agent has failed: its maker asks for its open sessions. */
  'society/TellSessions@1': from(z.strictObject({}), by.above(ENTITY), by.above(SWARM)),
  /** The maker has changed the status of the agent for its failed cell: the groups of the agent hear so. */
  'society/StatusForFailed@1': from(
    z.strictObject({ old: z.enum(AGENT_STATUSES), now: z.enum(AGENT_STATUSES) }),
    by.above(ENTITY),
    by.above(SWARM),
  ),
  /** What the parent knows of the chain, after a return. */
  'society/SyncL1@1': from(chain, ownEntity),
  /** Drops the links, when their content is erased. */
  'society/ForgetL1@1': from(z.strictObject({}), ownEntity),
} as const;

/** `society/L1Told@1`: what a hot context answers to its entity, or to the parent that reads. */
const l1Told = z.strictObject({
  call: z.string().max(64),
  /** Why the change was refused; null when it took place, and for a reading. */
  code: z.nullable(z.enum(['revision_conflict', 'not_yours', 'too_large'])),
  /** Of `not_yours`: the fields. Of `too_large`: none. */
  refused: z.array(z.string().max(64)).max(16),
  wrote: z.boolean(),
  entity_id: id,
  state: l1State.omit({ links: true }),
  capabilities: value(),
});

/** What a hot context answers: to its entity, or to the parent that reads. */
export const l1Tells = {
  'society/L1Told@1': from(l1Told, by.cell({ reducer: L1, key: [{ event: 'entity_id' }] })),
} as const;

/** The facts of a hot context. */
export const l1Facts = {
  'society/L1Changed@1': z.strictObject({
    entity_id: id,
    version: count,
    cause: z.enum(['opened', 'identified', 'written', 'session_start', 'session_end', 'synced', 'forgotten']),
    fields: z.array(z.enum(L1_FIELDS)).max(L1_FIELDS.length),
    chain_hash: digestHex(),
    session_count: count,
  }),
} as const;
