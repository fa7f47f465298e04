/** Prepares the jobs of a swarm's agents: finds the definition, and lays out goal, task and the results before it. */

import { type AnyAgent, putText, readText, type Tool } from '@reprise/agent';
import { type InputPart, type Marked, own, paragraphs, party, said } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { encode, portableSha256, toHex } from '@reprise/kernel';
import { type JobRequest, NotPrepared, type PrepareHost, type Preparer, type WorkPrepared } from '@reprise/org';
import { limitOf, withinLimits } from '@reprise/org/contracts';
import { MEMBER_JOB, memberJob } from '../pure/index.js';
import { swarmTask } from '../tools/tools.js';

type Details = z.infer<typeof memberJob>;

/** The preparer of a swarm's jobs. */
export const memberPreparer: Preparer = {
  kind: MEMBER_JOB,
  async prepare(request: JobRequest, host: PrepareHost): Promise<WorkPrepared> {
    const asked = memberJob.parse(request.details);
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
  if (budget === null) return adopted;
  const { config, ...rest } = withinLimits(adopted, { [limitOf(budget)]: budget.amount });
  return { ...rest, config: { ...config, limits: { ...config.limits, on_limit: 'fail' } } };
}

async function partsOf(host: PrepareHost, asked: Details): Promise<InputPart[]> {
  const { content } = host;
  const goal = await readText(content, asked.goal_ref);
  const task = asked.task_ref === null ? undefined : await readText(content, asked.task_ref);
  const { input } = asked;
  const text = memberText(asked, goal, task);
  const first: InputPart = { kind: 'text', text_ref: await putText(content, text) };
  if (input === null) return [first];
  if (input.kind === 'text') return [first, { kind: 'text', text_ref: input.ref }]; // marked when it was joined
  return [first, { kind: 'result', child: 'the agent before you', output_ref: input.ref, view: 'full' }];
}

/** What an agent of a swarm is told at its beginning. Goal and task are words of its creator and of a coordinator. */
function memberText({ swarm, slot, index, role, strategy }: Details, goal: string, task: string | undefined): Marked {
  return paragraphs([
    own`You are ${slot} ${index} of the swarm ${swarm}. You work for its goal:`,
    said(party`goal of the swarm`, goal),
    ...(task === undefined ? [] : [own`# Your task`, own`Do this part of it:`, said(party`your task`, task)]),
    ...(strategy === 'hierarchical' ? [ROLES[role]] : []),
  ]);
}

const ROLES = {
  coordinator: own`You coordinate. Delegate tasks to the slots with swarm_task (action delegate), wait for the reports (action collect), and end with the result (action finish). Only you can delegate.`,
  worker: own`Work on your task. Your answer goes to the coordinator; report earlier with swarm_task (action report).`,
} as const;
