/** The tools that make and direct swarms. A goal and tasks are links, as an entity takes them. */

import * as z from '@reprise/contracts/schema';
import { apart, type CallTo, checkedAs, keptSchema, optional, text } from '@reprise/org/contracts';
import { capabilitiesShown as capabilities } from '../agent/capability.js';
import { acting, agentId, agentType, nameId, noted, pageLimit, reading, told } from '../cell/statement.js';
import { cultureShown } from '../group/group.js';

/** How the agents of a swarm work together. */
export const STRATEGIES = ['broadcast', 'pipeline', 'hierarchical'] as const;

/** The states of a swarm. */
export const SWARM_STATUSES = [
  'creating',
  'registering',
  'executing',
  'synthesizing',
  'archived',
  'disbanded',
  'failed',
] as const;

/** The state of a swarm. */
export type SwarmStatus = (typeof SWARM_STATUSES)[number];

/** What follows when a member fails: the others go on, it tries once more, or the swarm fails. */
export const memberFailure = z.enum(['continue', 'restart', 'abort']);

/** How large swarms, their results and their waits grow. */
export const SWARM_BOUNDS = {
  /** Agents of one swarm, all slots together. */
  agents: 64,
  slots: 16,
  /** Tasks that a coordinator delegates. */
  tasks: 1_000,
  /** The time of one task in milliseconds. */
  task_ms: 86_400_000,
  /** The bytes of joined outputs. */
  joined_bytes: 400_000,
  /** Keys that are made at the same time. */
  keys: 8,
} as const;

/** The name of a slot. */
export const slotName = z.string().regex(/^[a-z0-9-]{1,32}$/);

/** What `swarm_task` does: a coordinator delegates, collects and finishes, and a worker reports. */
export const SWARM_ACTIONS = ['delegate', 'collect', 'report', 'finish'] as const;

/** Where a page of a swarm goes on: after an agent or a result, by its number. */
export const SWARM_CURSOR = /^[ar][0-9]{1,7}$/;

/** The rows of a page of a swarm: all its agents and many results. */
export const SWARM_ROWS = { usual: 100, max: 200 } as const;

/** What there is to be done, or was found. */
const work = text().min(1).max(20_000);

/** A budget, in its unit. */
const some = z.int().min(1);

/** Where a page goes on, as its callers write it. */
const after = checkedAs(
  z.string().refine((given) => SWARM_CURSOR.test(given), 'is no `next` of a page'),
  z.string().regex(SWARM_CURSOR),
);

const slot = noted(
  z.strictObject({
    slot: slotName,
    agent_type: agentType,
    capabilities,
    count: z.int().min(1).max(SWARM_BOUNDS.agents),
    agent: told(
      checkedAs(z.string(), z.string().min(1).max(128)),
      "The name of a defined agent, or skill:<name> (resolved by the world's parts); the defined agent of the slot's name when absent.",
    ),
    ...optional({ task: text().max(20_000) }),
  }),
  { id: 'Slot' },
);

/** A slot, as it is kept. */
export const slotRow = keptSchema(slot);

/** The name of a slot, as callers write it. */
const slotShown = checkedAs(z.string(), slotName);

/** What came of a task: the words of its agent, as far as one answer shows them. */
const result = z.strictObject({
  task: noted(some, { description: 'The number of the task.' }),
  agent_id: agentId,
  slot: z.string(),
  status: z.string(),
  code: told(z.string(), 'Why it did not end well.'),
  summary: told(z.string().nullable(), 'What its agent reported, or its last words; null when they were erased.'),
  next_from: told(some, 'There is more: swarm_status with this task, and from this character on.'),
  ...optional({ ref: z.string() }),
});

/** The tools that make and direct swarms. */
export const swarmCalls = {
  swarm_create: acting({
    description: 'Creates a swarm: agents by slots, their group, and a goal that they pursue by a strategy.',
    args: {
      swarm_id: checkedAs(z.exactOptional(nameId), nameId), // one that is not named follows from the call
      goal: work,
      ...optional({
        group_id: nameId,
        /** The coordinator: an agent that exists, or the slot of one. */
        coordinator_agent_id: z.union([agentId, z.strictObject({ slot: slotShown })]),
      }),
      strategy: z.enum(STRATEGIES),
      agents: z.array(slot).min(1).max(SWARM_BOUNDS.slots),
      ...optional({ culture: cultureShown }),
      on_member_failure: memberFailure.default('continue'),
      budget_usd: told(
        apart(z.number().gt(0)),
        "In dollars; kept in integer micro-dollars, rounded up. Needs a price for every slot's model. Not together with budget_tokens.",
      ),
      budget_tokens: told(some, 'Not together with budget_usd.'),
    },
    also: optional({ budget_micro_money: some }),
    answer: {
      swarm_id: nameId,
      group_id: nameId,
      status: z.string(),
      agents: z.array(z.strictObject({ slot: z.string(), index: z.int(), agent_id: agentId })),
    },
  }),
  swarm_status: reading({
    description:
      'Tells how far a swarm is, and what its agents have reported; with task, the whole of one result in pieces.',
    args: {
      swarm_id: nameId,
      ...optional({ after }),
      limit: pageLimit(SWARM_ROWS.max, SWARM_ROWS.usual),
      task: told(some, 'The number of one result that is read.'),
      from: told(z.int().min(0), 'Of one result: the first character.'),
    },
    answer: {
      swarm_id: nameId,
      status: z.enum(SWARM_STATUSES),
      strategy: z.string(),
      ...optional({ goal: z.string(), stage: z.int() }),
      agents: z.array(
        z.strictObject({
          slot: z.string(),
          agent_id: agentId,
          status: z.string(),
          ...optional({ progress: z.number().min(0).max(1) }),
        }),
      ),
      results: z.array(result),
      ...optional({
        next: z.string(),
        synthesis: z.strictObject({ text: z.string().nullable(), ref: z.string() }),
      }),
      code: told(z.string(), 'Why it failed.'),
      cost_micro_money: noted(z.int().min(0), { description: 'Integer micro-dollars.' }),
    },
  }),
  swarm_disband: acting({
    description: 'Ends a swarm: its agents are deactivated, its group is archived or deleted.',
    args: {
      swarm_id: nameId,
      mode: z.enum(['archive', 'delete']).default('archive'),
      ...optional({ reason: text().max(500) }),
    },
    answer: { swarm_id: nameId, status: z.enum(['archived', 'disbanded']), deactivated: z.array(agentId) },
  }),
  swarm_task: acting({
    description:
      'Works in a hierarchical swarm: its coordinator delegates to a slot, collects reports and finishes; a worker reports.',
    args: {
      swarm_id: nameId,
      action: z.enum(SWARM_ACTIONS),
      slot: told(slotShown, 'Of delegate: the slot that gets the task.'),
      agent_id: told(agentId, 'Of delegate: one agent of the slot.'),
      task: told(work, 'Of delegate: what is to be done.'),
      result: told(work, 'Of report and finish: what was found.'),
      after: told(after, 'Of collect: `next` of the page of reports before.'),
      limit: told(z.int().min(1).max(SWARM_ROWS.max), 'Of collect: the most reports of the page.'),
    },
    answer: {
      swarm_id: nameId,
      status: z.string(),
      ...optional({ reports: z.array(result) }),
      waiting: told(z.int().min(0), 'Delegated tasks that have not ended.'),
      ...optional({ next: z.string() }),
    },
  }),
};

/** A manifest, as it is kept. */
export type KeptManifest = CallTo<typeof swarmCalls.swarm_create>;
