/** Projects as clients outside follow them. */
import type { AgentWorld, Organization } from '@reprise/agent';
import { CellReader, shownParts } from '@reprise/org';
import { PROJECT, type ProjectState, type RecordedResult, type RecordedTask } from '../pure/index.js';
import { resultRow, taskRow } from './rows.js';

/** Projects, their tasks and results, and what links content of them. */
export function followedProjects({ kernel }: AgentWorld): Organization {
  const cellOf = (name: string) => new CellReader<ProjectState>(kernel, [PROJECT, name]);
  return {
    kind: 'project',
    reducer: PROJECT,
    linkedFrom: ['tasks', 'results', 'narrative'],
    about: async (name) => {
      const state = await cellOf(name).state();
      if (state === undefined) return undefined;
      const { status, needs, team, counts: tasks, jobs, unprocessed, budget, spent, goal_ref: goal } = state;
      return { status, needs, team, tasks, jobs, unprocessed, budget, spent, goal };
    },
    parts: (name, after) =>
      shownParts(
        cellOf(name),
        [
          ['tasks', shownTask],
          ['results', shownResult],
        ],
        after,
      ),
  };
}

function shownTask(row: RecordedTask, at: string): object {
  const { id: task, ...shown } = taskRow(Number(at), row);
  return { task, ...shown, brief: row.context_ref };
}

function shownResult(row: RecordedResult, at: string): object {
  const { id: result, ...shown } = resultRow(Number(at), row);
  return { result, ...shown, output: row.output_ref };
}
