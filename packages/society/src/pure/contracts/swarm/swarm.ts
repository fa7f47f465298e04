/** Swarms: their manifest as it is kept, their cells, and what they tell. A goal and tasks are links. */

import { tally } from '@reprise/agent/contracts';
import { actor, capability, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, from } from '@reprise/kernel/define';
import { JOB_STATUSES, KEY_DIGITS, makingTables, restEvent, share, used } from '@reprise/org/contracts';
import { failedFacts, failedNewsOfSwarm, failedTables, revivedNewsOfSwarm } from '../agent/failed.js';
import { ENTITY } from '../cell/names.js';
import { makerCell, namedSwarm, ownSwarm, swarmAgent, swarmCoordinator, swarmCreator } from '../cell/senders.js';
import { agentId, entityId, nameId, outcomeOf } from '../cell/statement.js';
import { aboveLimits, agentEntry, entityCoreTables, inherited, lineage } from '../entity/entity.js';
import { cultureIn } from '../group/group.js';
import { memberFailure, STRATEGIES, SWARM_STATUSES, slotName, slotRow, swarmCalls } from './tools.js';

const count = z.int().min(0);
const some = z.int().min(1);
const code = z.string().min(1).max(96);

/** The length of the key of a member: a pair of numbers. */
const MEMBER_KEY = 2 * KEY_DIGITS + 1;

/** The state of a swarm. Its slots, members and tasks stand in tables. */
export const swarmState = z.strictObject({
  status: z.enum(SWARM_STATUSES),
  /** The entity that created it, and how deep it stands. */
  creator: entityId,
  /** The creator, and all entities above it. */
  lineage,
  depth: count,
  /** The call of the creator that is answered when the swarm has formed; null when it was. */
  call: z.nullable(z.string().max(64)),
  group: nameId,
  strategy: z.enum(STRATEGIES),
  goal_ref: ref(),
  culture: cultureIn,
  on_failure: memberFailure,
  /** The tasks that run at once. */
  parallel: some,
  account: z.string().max(128),
  expires_at: z.nullable(count),
  ...inherited,
  /** The coordinator, when it is known; the slot that it has; and the number of the slot that joins results. */
  coordinator: z.nullable(agentId),
  coordinator_slot: z.nullable(slotName),
  synthesizer: z.nullable(count),
  /** How many members are to be made, how many keys are under way, and how far the others are. */
  members: z.strictObject({ all: count, asked: count, keys: count, made: count, joined: count }),
  /** The number of its slots, and the stage that runs. */
  slots: count,
  stage: count,
  /** The number of the next task, and how many have not ended. */
  tasks: z.strictObject({ next: some, open: count }),
  /** Why it failed, or is to fail as soon as the delivery has been followed. */
  code: z.nullable(code),
  failing: z.boolean(),
  synthesis_ref: z.nullable(ref()),
  /** Whether the synthesis is a model's output; a text otherwise. */
  synthesis_kind: z.nullable(z.enum(['llm_output', 'text'])),
  spent: used,
  /** What all its tasks may use together, where its manifest says: tokens, or micro-dollars. */
  budget: z.strictObject({ tokens: z.nullable(some), micro_money: z.nullable(some) }),
  /** What is set aside for the tasks that are under way, in the unit of the budget. */
  reserved: count,
});

/** The state of a swarm. */
export type SwarmState = z.infer<typeof swarmState>;

/** A task: an entry of the table `tasks`, by its number. */
export const swarmTask = z.strictObject({
  member: z.string().max(MEMBER_KEY),
  agent_id: agentId,
  /** That of its job; before it `waiting` for inputs or its share, or `skipped` without inputs or a share. */
  status: z.enum(['waiting', ...JOB_STATUSES, 'skipped']),
  attempt: some,
  task_ref: z.nullable(ref()),
  /** The outputs of earlier tasks: one output of a model, or the text that joins several. */
  input: z.nullable(z.strictObject({ kind: z.enum(['llm_output', 'text']), ref: ref() })),
  output_ref: z.nullable(ref()),
  report_ref: z.nullable(ref()),
  code: z.nullable(code),
  tally,
  /** What is set aside for it while it is under way; null where no budget bounds it. */
  share: z.nullable(share),
});

/** A task of a swarm. */
export type SwarmTask = z.infer<typeof swarmTask>;

/** A call at the swarm, which waits there where it is a collect of the coordinator or has words of agents composed. */
export const swarmWaiting = z.strictObject({
  by: entityId,
  call: z.string().max(64),
  /** The bytes that the answer may have, and whether a model reads it: then all words are one text. */
  bytes: some,
  model: z.boolean(),
});

/** A call at the swarm. */
export type SwarmWaiting = z.infer<typeof swarmWaiting>;

/** A collect of the coordinator: the number of the result after which it reads on, and the most rows of its page. */
export const swarmCollect = z.strictObject({ ...swarmWaiting.shape, after: count, limit: some });

/** The tables of a swarm. */
export const swarmTables = {
  slots: slotRow,
  /** The members, under the numbers of their slots and places. */
  members: z.strictObject({
    slot: slotName,
    index: count,
    agent_id: z.nullable(agentId),
    /** As its creator knows it; its public key is empty, and it is made at 0, before there is a key. */
    ...agentEntry.omit({ agent_type: true, display_name: true }).shape,
    /** How far it is: its key is asked for, it is made, it has begun, it is a member of the group, or it was ended. */
    phase: z.enum(['keyed', 'made', 'begun', 'joined', 'ended']),
    /** Its task; null for none. */
    task: z.nullable(some),
    /** The progress of its task in millionths, as it reported it. */
    progress: count,
  }),
  /** The members by their agents. */
  agents: z.string().max(MEMBER_KEY),
  tasks: swarmTask,
  /** The tasks that wait until others give a share of the budget back. */
  line: z.null(),
  /** What has not ended in each stage. */
  stages: count,
  /** Tasks that have ended, and whose end was not followed yet. */
  over: z.null(),
  /** What plans that are under way are for. */
  plans: z.union([
    z.strictObject({ kind: z.literal('key'), member: z.string().max(MEMBER_KEY) }),
    z.strictObject({ kind: z.literal('join'), stage: count }),
    z.strictObject({ kind: z.literal('synthesis') }),
    z.strictObject({ kind: z.literal('collect'), waiting: swarmCollect }),
    z.strictObject({ kind: z.literal('status'), waiting: swarmWaiting, args: swarmCalls.swarm_status.call }),
  ]),
  /** The calls of `swarm_collect` that wait for an end. */
  waiting: swarmCollect,
  above: entityCoreTables.above,
  ...makingTables,
  ...failedTables,
} as const;

/** What a member is asked to work on: the details of its job. */
export const memberJob = z.strictObject({
  swarm: nameId,
  slot: slotName,
  index: count,
  role: z.enum(['coordinator', 'worker']),
  strategy: z.enum(STRATEGIES),
  agent: z.string().max(128),
  goal_ref: ref(),
  task_ref: z.nullable(ref()),
  input: z.nullable(z.strictObject({ kind: z.enum(['llm_output', 'text']), ref: ref() })),
  budget: z.nullable(share),
});

/** The tables of an entity about swarms. */
export const swarmTablesOfEntity = {
  /** Works that have not ended. */
  works: z.null(),
  /** The swarms that it created, and their agents, by id. */
  swarms: z.null(),
  workers: agentEntry,
  /** The swarms that it is to lead and whose group it has not joined yet: the group. */
  leads: nameId,
} as const;

/** What a task of a member has become. */
export const memberWorked = z.strictObject({
  n: some,
  status: z.enum(JOB_STATUSES),
  output_ref: z.nullable(ref()),
  value_ref: z.nullable(ref()),
  code: z.nullable(code),
  tally,
});

/** The opening of a swarm, by the entity that creates it. */
export const openSwarm = z.strictObject({
  call: z.string().max(64),
  creator: entityId,
  lineage,
  depth: count,
  manifest: swarmCalls.swarm_create.call,
  parallel: some,
  account: z.string().max(128),
  expires_at: z.nullable(count),
  ...inherited,
  /** What the creator may hand on, and who narrows it. */
  above: capability,
  limits: aboveLimits,
});

/** What each call of an entity at a swarm has beside its arguments. */
const asked = {
  call: z.string().max(64),
  /** The bytes that an answer may have, and whether a model reads it. */
  bytes: some,
  model: z.boolean(),
  /** Who made the call at the entity. */
  actor,
};

/** A call of an entity at a swarm. */
export const swarmAsked = z.discriminatedUnion('name', [
  z.strictObject({ ...asked, name: z.literal('swarm_status'), args: swarmCalls.swarm_status.call }),
  z.strictObject({ ...asked, name: z.literal('swarm_disband'), args: swarmCalls.swarm_disband.call }),
  z.strictObject({ ...asked, name: z.literal('swarm_task'), args: swarmCalls.swarm_task.call }),
]);

/** A call of an entity at a swarm. */
export type SwarmAsked = z.infer<typeof swarmAsked>;

/** The events that a swarm takes. */
export const swarmEvents = {
  /** The entity that it names as its creator makes it, and no other. */
  'society/OpenSwarm@1': creates(from(openSwarm, by.cell({ reducer: ENTITY, key: [{ event: 'creator' }] }))),
  /** The creator lets the swarm begin: its rights stand. */
  'society/FormSwarm@1': from(z.strictObject({}), swarmCreator),
  /** The creator was deactivated: the swarm ends. */
  'society/CreatorOver@1': from(z.strictObject({}), swarmCreator),
  /** A call of the creator or one above it, of the coordinator, or of an agent of the swarm. */
  'society/SwarmCall@1': from(swarmAsked, by.above(ENTITY), swarmCoordinator, swarmAgent),
  /** A member tells of its work. */
  'society/Worked@1': from(memberWorked, swarmAgent),
  ...failedNewsOfSwarm,
  ...revivedNewsOfSwarm,
  /** The calls that one delivery was too small for are answered. */
  ...restEvent,
  /** The texts of a join are composed. */
  'society/Composed@1': from(z.strictObject({ text_ref: z.nullable(ref()), code: z.nullable(code) }), by.ownPlan),
} as const;

/** The events that an entity takes from swarms. */
export const swarmTells = {
  /** The manifest was checked: what is wrong with it, or null. */
  'society/SwarmChecked@1': from(outcomeOf(value()), by.ownPlan),
  /** The creator hears that its swarm has formed; or why it was refused, by a code and what belongs to it. */
  'society/SwarmFormed@1': from(outcomeOf(value()), ownSwarm),
  /** The creator hears of an agent of its swarm: that it has begun, or what has changed. */
  'society/Worker@1': from(z.strictObject({ agent_id: agentId, entry: agentEntry }), ownSwarm),
  /** The answer to a call, by the swarm that the call names. */
  'society/SwarmTold@1': from(
    z.strictObject({
      swarm_id: nameId,
      call: z.string().max(64),
      value: value(),
      refs: z.array(z.strictObject({ label: z.string().max(64), ref: ref() })).max(8),
      is_error: z.boolean(),
    }),
    namedSwarm,
  ),
  /** The call waits for other agents. */
  'society/SwarmParked@1': from(z.strictObject({ swarm_id: nameId, call: z.string().max(64) }), namedSwarm),
  /** The swarm gives a member work. */
  'society/Work@1': from(
    z.strictObject({
      /** Unique among the works of this member. */
      n: some,
      ...memberJob.shape,
    }),
    makerCell,
  ),
  /** The swarm is over: its member is deactivated. */
  'society/SwarmOver@1': from(z.strictObject({}), makerCell),
} as const;

/** The facts of a swarm. */
export const swarmFacts = {
  ...failedFacts,
  'society/SwarmChanged@1': z.strictObject({
    swarm_id: nameId,
    status: z.enum(SWARM_STATUSES),
    stage: count,
    code: z.nullable(code),
    /** Who ended it; absent where nobody did. */
    by: z.exactOptional(actor),
  }),
  'society/TaskCompleted@1': z.strictObject({
    swarm_id: nameId,
    task: some,
    agent_id: agentId,
    status: z.string().max(16),
    result: z.nullable(ref()),
  }),
  /** What came after the end of a task: it changes nothing else. */
  'society/LateReport@1': z.strictObject({
    swarm_id: nameId,
    agent_id: entityId,
    n: count,
    status: z.string().max(32),
  }),
} as const;
