/** The source of context of a coordinator: read before each of its runs, and recorded there. */
import { type ContextSource, type PartHost, readText } from '@reprise/agent';
import type { SessionInfo } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { CellReader, unlessErased } from '@reprise/org';
import { key } from '@reprise/org/contracts';
import { coordinatorContext } from '../prompts/coordinator.js';
import { type NarrativeRow, PROJECT, type ProjectState, type projectTables, type SkillRow } from '../pure/index.js';
import { rankSkills } from '../skills/index.js';

/** The newest entries of the narrative that are read: as many as 4 KiB can hold. */
const ENTRIES_READ = 40;

/** The source of context of a coordinator in one world. */
export function coordinatorSource(host: PartHost): ContextSource {
  return {
    name: 'team',
    lane: 'inputs',
    load: async (session: SessionInfo) => {
      const { kernel } = await host.world;
      const cell: Cell = new CellReader(kernel, [PROJECT, session.labels.project ?? '']);
      const state = await cell.state();
      if (state === undefined) return '';
      const skills = await readySkills(cell);
      const said = state.said_ref === null ? '' : await wordsOf(kernel, state.said_ref);
      return coordinatorContext({
        skills,
        hints: rankSkills(skills, said).map(({ name }) => name),
        narrative: await newestEntries(kernel, cell, state),
        state,
      });
    },
  };
}

type Cell = CellReader<ProjectState, typeof projectTables>;

/** The skills that can be spawned, as the project knows them: read just before the run. */
async function readySkills(project: Cell) {
  const found: Pick<SkillRow, 'name' | 'description' | 'triggers'>[] = [];
  for await (const [, { name, description, triggers, state }] of project.each('skills')) {
    if (state === 'ready') found.push({ name, description, triggers });
  }
  return found;
}

async function newestEntries(kernel: World, project: Cell, { next }: ProjectState) {
  const from = key(Math.max(1, next.narrative - ENTRIES_READ));
  const rows = await project.rows('narrative', { from, limit: ENTRIES_READ });
  return Promise.all(
    rows.map(async ([at, { text_ref }]) => ({ n: Number(at), text: await wordsOf(kernel, text_ref) })),
  );
}

function wordsOf({ content }: World, ref: NarrativeRow['text_ref']): Promise<string> {
  return unlessErased(readText(content, ref), '[erased]');
}
