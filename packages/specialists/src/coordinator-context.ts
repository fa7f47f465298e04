/** The source of context of a coordinator: read before each of its runs, and recorded there. */
import { type ContextSource, type PartHost, readText } from '@reprise/agent';
import { type Address, RepriseError, type SessionInfo } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { coordinatorContext } from './prompts/coordinator.js';
import { type NarrativeRow, PROJECT, type ProjectState, type SkillRow } from './pure/index.js';
import { key } from './pure/reducer/keys.js';
import { rankSkills } from './skills/index.js';

/** The newest entries of the narrative that are read: as many as 4 KiB can hold. */
const ENTRIES_READ = 40;

/** The source of context of a coordinator in one world. */
export function coordinatorSource(host: PartHost): ContextSource {
  return {
    name: 'team',
    lane: 'inputs',
    load: async (session: SessionInfo) => {
      const { kernel } = await host.world;
      const project: Address = [PROJECT, session.labels.project ?? ''];
      const state = (await kernel.state(project)) as unknown as ProjectState | undefined;
      if (state === undefined) return '';
      const skills = await readySkills(kernel, project);
      const said = state.said_ref === null ? '' : await wordsOf(kernel, state.said_ref);
      return coordinatorContext({
        skills,
        hints: rankSkills(skills, said).map(({ name }) => name),
        narrative: await newestEntries(kernel, project, state),
        state,
      });
    },
  };
}

/** The skills that can be spawned, as the project knows them: read just before the run. */
async function readySkills(kernel: World, project: Address) {
  const found: Pick<SkillRow, 'name' | 'description' | 'triggers'>[] = [];
  for (let page = await kernel.table(project, 'skills', {}); page.length > 0; ) {
    for (const [, row] of page) {
      const { name, description, triggers, state } = row as unknown as SkillRow;
      if (state === 'ready') found.push({ name, description, triggers });
    }
    page = await kernel.table(project, 'skills', { after: page.at(-1)?.[0] ?? '' });
  }
  return found;
}

async function newestEntries(kernel: World, project: Address, { next }: ProjectState) {
  const from = key(Math.max(1, next.narrative - ENTRIES_READ));
  const rows = await kernel.table(project, 'narrative', { from, limit: ENTRIES_READ });
  return Promise.all(
    rows.map(async ([at, row]) => ({
      n: Number(at),
      text: await wordsOf(kernel, (row as unknown as NarrativeRow).text_ref),
    })),
  );
}

async function wordsOf(kernel: World, ref: NarrativeRow['text_ref']): Promise<string> {
  try {
    return await readText(kernel.content, ref);
  } catch (error) {
    if (error instanceof RepriseError && error.code === 'blob_erased') return '[erased]';
    throw error;
  }
}
