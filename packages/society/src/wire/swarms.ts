/** The tools that make and direct swarms. */
import * as z from 'zod';
import { SWARM_ACTIONS, SWARM_CURSOR, SWARM_ROWS } from '../pure/contracts/swarm/swarm.js';
import { AgentId, CommandId, Culture, GroupId, NOTES, Slot } from './defs.js';
import { toolsOf } from './tool.js';

const task = () => z.string().min(1).max(20_000);

/** Where a page of a swarm goes on. */
const after = () =>
  z
    .string()
    .refine((text) => SWARM_CURSOR.test(text), { error: 'is no `next` of a page' })
    .optional();

/** What came of a task: the words of its agent, as far as one answer shows them. */
const result = z.strictObject({
  task: z.int().min(1).register(NOTES, { description: 'The number of the task.' }),
  agent_id: AgentId,
  slot: z.string(),
  status: z.string(),
  code: z.string().optional().register(NOTES, { description: 'Why it did not end well.' }),
  summary: z.string().nullable().optional().register(NOTES, {
    description: 'What its agent reported, or its last words; null when they were erased.',
  }),
  next_from: z.int().min(1).optional().register(NOTES, {
    description: 'There is more: swarm_status with this task, and from this character on.',
  }),
  ref: z.string().optional(),
});

export const swarmTools = toolsOf({
  swarm_create: {
    description: 'Creates a swarm: agents by slots, their group, and a goal that they pursue by a strategy.',
    input: z.strictObject({
      swarm_id: GroupId.optional(),
      goal: task(),
      group_id: GroupId.optional(),
      coordinator_agent_id: z.union([AgentId, z.strictObject({ slot: z.string() })]).optional(),
      strategy: z.enum(['broadcast', 'pipeline', 'hierarchical']),
      agents: z.array(Slot).min(1).max(16),
      culture: Culture.optional(),
      on_member_failure: z.enum(['continue', 'restart', 'abort']).default('continue'),
      budget_usd: z.number().positive().optional().register(NOTES, {
        description:
          "In dollars; kept in integer micro-dollars, rounded up. Needs a price for every slot's model. Not together with budget_tokens.",
      }),
      budget_tokens: z.int().min(1).optional().register(NOTES, { description: 'Not together with budget_usd.' }),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      swarm_id: GroupId,
      group_id: GroupId,
      status: z.string(),
      agents: z.array(z.strictObject({ slot: z.string(), index: z.int(), agent_id: AgentId })),
    }),
  },
  swarm_status: {
    description:
      'Tells how far a swarm is, and what its agents have reported; with task, the whole of one result in pieces.',
    input: z.strictObject({
      swarm_id: GroupId,
      after: after(),
      limit: z.int().min(1).max(SWARM_ROWS.max).default(SWARM_ROWS.usual),
      task: z.int().min(1).optional().register(NOTES, { description: 'The number of one result that is read.' }),
      from: z.int().min(0).optional().register(NOTES, { description: 'Of one result: the first character.' }),
    }),
    output: z.strictObject({
      swarm_id: GroupId,
      status: z.enum(['creating', 'registering', 'executing', 'synthesizing', 'archived', 'disbanded', 'failed']),
      strategy: z.string(),
      goal: z.string().optional(),
      stage: z.int().optional(),
      agents: z.array(
        z.strictObject({
          slot: z.string(),
          agent_id: AgentId,
          status: z.string(),
          progress: z.number().min(0).max(1).optional(),
        }),
      ),
      results: z.array(result),
      next: z.string().optional(),
      synthesis: z.strictObject({ text: z.string().nullable(), ref: z.string() }).optional(),
      code: z.string().optional().register(NOTES, { description: 'Why it failed.' }),
      cost_micro_money: z.int().min(0).register(NOTES, { description: 'Integer micro-dollars.' }),
    }),
  },
  swarm_disband: {
    description: 'Ends a swarm: its agents are deactivated, its group is archived or deleted.',
    input: z.strictObject({
      swarm_id: GroupId,
      mode: z.enum(['archive', 'delete']).default('archive'),
      reason: z.string().max(500).optional(),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      swarm_id: GroupId,
      status: z.enum(['archived', 'disbanded']),
      deactivated: z.array(AgentId),
    }),
  },
  swarm_task: {
    description:
      'Works in a hierarchical swarm: its coordinator delegates to a slot, collects reports and finishes; a worker reports.',
    input: z.strictObject({
      swarm_id: GroupId,
      action: z.enum(SWARM_ACTIONS),
      slot: z.string().optional().register(NOTES, { description: 'Of delegate: the slot that gets the task.' }),
      agent_id: AgentId.optional().register(NOTES, { description: 'Of delegate: one agent of the slot.' }),
      task: task().optional().register(NOTES, { description: 'Of delegate: what is to be done.' }),
      result: task().optional().register(NOTES, { description: 'Of report and finish: what was found.' }),
      after: after().register(NOTES, { description: 'Of collect: `next` of the page of reports before.' }),
      limit: z
        .int()
        .min(1)
        .max(SWARM_ROWS.max)
        .optional()
        .register(NOTES, { description: 'Of collect: the most reports of the page.' }),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      swarm_id: GroupId,
      status: z.string(),
      reports: z.array(result).optional(),
      waiting: z.int().min(0).optional().register(NOTES, { description: 'Delegated tasks that have not ended.' }),
      next: z.string().optional(),
    }),
  },
});
