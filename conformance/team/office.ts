/** The team of the workflow in a world on a file. */
import { type AgentWorld, defineTool, openWorld } from 'reprise';
import { openAiCompatible } from 'reprise/providers';
import { folder, type PlannedTask, type Team, team } from 'reprise/specialists';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';
import { PLAN, PLAN_HANDLER } from './workflow.js';

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

interface Office {
  readonly world: AgentWorld;
  readonly team: Team;
}

/** Opens the world of the workflow. */
export async function openOffice({ file, skills, model }: Places): Promise<Office> {
  let opened: Office | undefined;
  const shop = team({
    name: 'shop',
    skills: [folder(skills)],
    tools: [grep, read, write, planHandler(() => opened)],
    coordinator: { model: 'main', identity: 'You coordinate.' },
    planners: ['project-planner'],
  });
  const main = openAiCompatible({ baseUrl: model, model: 'mock' });
  const world = await openWorld({ store: sqlite(file), models: { main }, parts: [shop] });
  opened = { world, team: shop };
  return opened;
}

/** Writes the plan by a request to the project: a fork replays the call of the tool, and not the request. */
function planHandler(office: () => Office | undefined) {
  return defineTool({
    name: PLAN_HANDLER,
    description: 'Writes the plan.',
    args: text,
    run: async () => {
      const opened = office();
      if (opened === undefined) throw new Error('no world is open');
      await opened.world
        .part(opened.team)
        .project('auth')
        .plan(PLAN.map(({ depends_on, ...task }) => ({ ...task, blockedBy: depends_on })) as PlannedTask[]);
      return 'written';
    },
  });
}
