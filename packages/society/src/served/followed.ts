/** Swarms as clients outside follow them. */
import type { AgentWorld, Organization } from '@reprise/agent';
import type { Principal } from '@reprise/contracts';
import { CellReader, shownParts } from '@reprise/org';
import { AGENT_ID, ENTITY, SWARM, type SwarmRow, type SwarmState, type SwarmTask, swarmAt } from '../pure/index.js';

/** Swarms, their members and tasks, and what links content of them. A swarm is its creator's, and of those above it. */
export function followedSwarms({ kernel }: AgentWorld): Organization {
  const cellOf = (name: string) => new CellReader<SwarmState>(kernel, swarmAt(name));
  return {
    kind: 'swarm',
    reducer: SWARM,
    linkedFrom: ['tasks'],
    about: async (name) => {
      const state = await cellOf(name).state();
      if (state === undefined) return undefined;
      const { status, strategy, stage, slots: stages, creator, code, tasks, spent, goal_ref, synthesis_ref } = state;
      const about = { status, strategy, stage, stages, creator, code, open: tasks.open, spent };
      return { ...about, goal: goal_ref, result: synthesis_ref };
    },
    parts: (name, after) =>
      shownParts(
        cellOf(name),
        [
          ['members', shownMember],
          ['tasks', shownTask],
        ],
        after,
      ),
    holders: async (name) => ((await cellOf(name).state())?.lineage ?? []).map(principalOf),
  };
}

function shownMember({ slot, index, agent_id, phase, task, progress }: SwarmRow<'members'>, member: string): object {
  return { member, slot, index, agent_id, phase, at_work_on: task, progress };
}

function shownTask({ member, agent_id, status, attempt, code, report_ref, output_ref }: SwarmTask, at: string): object {
  return { task: Number(at), member, agent_id, status, attempt, code, report: report_ref, output: output_ref };
}

function principalOf(entity: string): Principal {
  return AGENT_ID.test(entity) ? `cell:${ENTITY}/${entity}` : `human:${entity}`;
}
