/** Prepares the jobs of a swarm's agents: finds the definition, and lays out goal, task and the results before it. */
import { type AnyAgent, putText, readText, type Tool } from '@reprise/agent';
import type { InputPart, Ref } from '@reprise/contracts';
import { encode, portableSha256, toHex } from '@reprise/kernel';
import { type JobRequest, NotPrepared, type PrepareHost, type Preparer, type WorkPrepared } from '@reprise/work';
import * as z from 'zod';
import { MEMBER_JOB } from '../pure/index.js';
import { swarmTask } from '../tools/tools.js';

/** What the entity states about a job of its swarm. */
const details = z.object({
  swarm: z.string(),
  slot: z.string(),
  index: z.int(),
  role: z.enum(['coordinator', 'worker']),
  strategy: z.enum(['broadcast', 'pipeline', 'hierarchical']),
  agent: z.string(),
  goal_ref: z.custom<Ref>(),
  task_ref: z.custom<Ref>().optional(),
  input: z.object({ kind: z.enum(['llm_output', 'text']), ref: z.custom<Ref>() }).optional(),
  budget: z.object({ unit: z.enum(['tokens', 'micro_money']), amount: z.int() }).optional(),
});

type Details = z.infer<typeof details>;

/** The preparer of a swarm's jobs. */
export const memberPreparer: Preparer = {
  kind: MEMBER_JOB,
  async prepare(request: JobRequest, host: PrepareHost): Promise<WorkPrepared> {
    const asked = details.parse(request.details);
    const defined = await host.agent(asked.agent);
    if (defined === undefined) throw new NotPrepared('agent_undefined', `there is no agent "${asked.agent}"`);
    if (!host.models.includes(defined.model)) throw new NotPrepared('unknown_model', `no model "${defined.model}"`);
    const { adopted: whole, agents } = await host.adopt(withSwarmTools(defined, asked));
    const adopted = within(whole, asked.budget);
    const message_parts = await partsOf(host, asked);
    const digest = toHex(portableSha256(encode([adopted.def_ref, request.details ?? null] as never)));
    return { adopted, agents: [...agents], message_parts, digest, resolved_model: defined.model };
  },
};

/** In a hierarchical swarm each agent has the tool by which a coordinator and its workers deal with each other. */
function withSwarmTools(agent: AnyAgent, { strategy }: Details): AnyAgent {
  if (strategy !== 'hierarchical' || (agent.tools as readonly Tool[]).some(({ name }) => name === swarmTask.name))
    return agent;
  return Object.freeze({ ...agent, tools: [...agent.tools, swarmTask] });
}

/**
 * A definition with the limit of the task's share of the budget: the smaller one where it has a limit of its own. At its
 * limits the session fails, and asks nobody for more: nobody can raise the budget of a swarm.
 */
function within(adopted: WorkPrepared['adopted'], budget: Details['budget']): WorkPrepared['adopted'] {
  if (budget === undefined) return adopted;
  const { limits } = adopted.config;
  const name = budget.unit === 'tokens' ? 'max_tokens' : 'max_micro_money';
  const least = Math.min(limits?.[name] ?? budget.amount, budget.amount);
  return { ...adopted, config: { ...adopted.config, limits: { ...limits, [name]: least, on_limit: 'fail' } } };
}

async function partsOf(host: PrepareHost, asked: Details): Promise<InputPart[]> {
  const { content } = host;
  const goal = await readText(content, asked.goal_ref);
  const task = asked.task_ref === undefined ? undefined : await readText(content, asked.task_ref);
  const { input } = asked;
  const joined = input?.kind === 'text' ? await readText(content, input.ref) : undefined;
  const text = memberText(asked, { goal, task, joined });
  const first: InputPart = { kind: 'text', text_ref: await putText(content, text) };
  if (input?.kind !== 'llm_output') return [first];
  return [first, { kind: 'result', child: 'the agent before you', output_ref: input.ref, view: 'full' }];
}

interface Texts {
  readonly goal: string;
  readonly task: string | undefined;
  readonly joined: string | undefined;
}

/** What an agent of a swarm is told at its beginning. */
function memberText(
  { swarm, slot, index, role, strategy }: Pick<Details, 'swarm' | 'slot' | 'index' | 'role' | 'strategy'>,
  { goal, task, joined }: Texts,
): string {
  return [
    `You are ${slot} ${index} of the swarm ${swarm}. The swarm has one goal:\n\n${goal}`,
    ...(task === undefined ? [] : [`# Your task\n\n${task}`]),
    ...(strategy === 'hierarchical' ? [ROLES[role]] : []),
    ...(joined === undefined ? [] : [joined]),
  ].join('\n\n');
}

const ROLES = {
  coordinator:
    'You coordinate. Delegate tasks to the slots with swarm_task (action delegate), wait for the reports (action collect), and end with the result (action finish). Only you can delegate.',
  worker: 'Work on your task. Your answer goes to the coordinator; report earlier with swarm_task (action report).',
} as const;
