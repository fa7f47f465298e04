/** The team of the workflow in a world on a file. */
import { type AgentWorld, defineTool, openWorld } from 'reprise';
import { openAiCompatible } from 'reprise/providers';
import { defineTeam, folder, type Team } from 'reprise/specialists';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';

/** Where the world, its skills and its model are. */
export interface Places {
  readonly file: string;
  readonly skills: string;
  readonly model: string;
}

const text = z.strictObject({ text: z.string() });

const [grep, read, write] = ['grep', 'read', 'write'].map((name) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    args: text,
    guarantee: 'idempotent',
    run: ({ text: of }) => `src/login.ts: ${of}`,
  }),
) as [never, never, never];

/** The team of the workflow. */
export function officeTeam(skills: string): Team {
  return defineTeam('shop', {
    skills: [folder(skills)],
    tools: [grep, read, write],
    coordinator: { model: 'main', identity: 'You coordinate.' },
    planners: ['project-planner'],
  });
}

/** Opens the world of the workflow. */
export async function openOffice({ file, skills, model }: Places): Promise<{ world: AgentWorld; team: Team }> {
  const team = officeTeam(skills);
  const main = openAiCompatible({ baseUrl: model, model: 'mock' });
  const world = await openWorld({ store: sqlite(file), models: { main }, parts: [team] });
  return { world, team };
}
