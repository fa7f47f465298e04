/** Executes `society.swarm@1`: whether the agents of a manifest exist, and their models have prices. */
import type { AnyAgent, PartHost } from '@reprise/agent';
import type * as z from '@reprise/contracts/schema';
import { type AnyAdapter, adapterOf } from '@reprise/kernel';
import { societySwarm, type swarmProblem } from '../pure/index.js';

type SwarmProblem = z.infer<typeof swarmProblem>;

/** The adapter of `society.swarm@1`, which checks a manifest against the agents of the world. */
export function swarmCheckAdapter(host: PartHost): AnyAdapter {
  return adapterOf(societySwarm, {
    name: 'society.swarm',
    async doExecute({ slots, money }) {
      for (const [at, { agent: name }] of slots.entries()) {
        const agent = await host.agent(name);
        if (agent === undefined) return { status: 'ok', payload: { problem: unknownAgent(at, name) } };
        const problem = money ? await noPrice(host, agent, at) : null;
        if (problem !== null) return { status: 'ok', payload: { problem } };
      }
      return { status: 'ok', payload: { problem: null } };
    },
  });
}

function unknownAgent(at: number, name: string): SwarmProblem {
  const path = `agents.${at}.agent`;
  const problem = name.startsWith('skill:')
    ? 'no part of this world has the skill; open the world with its team, or name another agent'
    : 'the world has no agent of this name; list it under agents when opening the world';
  return { code: 'agent_undefined', path, problem: `${name.slice(0, 128)}: ${problem}` };
}

async function noPrice(host: PartHost, agent: AnyAgent, at: number): Promise<SwarmProblem | null> {
  const { adopted } = await host.adopt(agent);
  if ((adopted.config.price ?? null) !== null) return null;
  const problem = `model ${agent.model} has no price; give it one (price: { in, out }), or state a budget in tokens`;
  return { code: 'no_price', path: `agents.${at}.agent`, problem };
}
