/** The workflow of a team: research, a plan by pointer, three specialists, curation. One world, played once. */
import { defineTool } from '@reprise/agent';
import { memory, openWorld } from 'reprise';
import { skill, type TeamOptions, team } from 'reprise/specialists';
import * as z from 'zod';
import { type Asked, COORDINATOR, calls, IDENTITY, played, type Role, says } from './roles.js';

/** What only research and its result know. */
export const RESEARCH = `Login is in src/login.ts.\n\n${'The session cookie is set in line 42. '.repeat(40)}`;

/** What only the body of a skill says. */
export const BODY = (name: string): string => `The secret instructions of ${name}: work in silence.`;

/** The brief of a task: it names nothing of the others. */
export const BRIEF = (name: string): string =>
  `Brief of ${name}: ${`do what ${name} needs, and nothing else. `.repeat(8)}`;

const TASKS = [
  { key: 'code', title: 'Write the adapter', context: BRIEF('code'), skill: 'coder' },
  { key: 'test', title: 'Write the tests', context: BRIEF('test'), skill: 'tester', depends_on: ['code'] },
  {
    key: 'docs',
    title: 'Write the page',
    context: BRIEF('docs'),
    skill: 'writer',
    depends_on: [{ task: 'code', pass: 'full' }],
  },
];

const coordinator: Role = (said) => {
  if (said.includes('Move login')) {
    return [
      calls('spawn_agent', { task: 'Find the login code', skill: 'research' }),
      says('I have asked for research.'),
    ];
  }
  if (said.includes('Result 1:')) {
    const context = 'Plan the move from [agent_result:1].';
    return [calls('spawn_agent', { task: 'Plan the move', skill: 'planner', context }), says('A plan is being made.')];
  }
  if (said.includes('Result 2:')) {
    return [calls('task_graph', {}), calls('spawn_agent', { task_id: 1 }), says('The first task has begun.')];
  }
  if (said.includes('Result 3:')) {
    return [
      calls('memory_store', { text: 'The adapter is done.', result_id: 3, key: 'adapter' }),
      calls('narrative_append', { text: 'The adapter was written first.', task_ids: [1] }),
      {
        calls: [
          { tool: 'spawn_agent', args: { task_id: 2 } },
          { tool: 'spawn_agent', args: { task_id: 3 } },
        ],
      },
      says('Tests and page have begun.'),
    ];
  }
  return [
    calls('results_list', { processed: false }),
    calls('result_read', { result_id: 1, offset: 0, bytes: 64 }),
    calls('narrative_append', { text: 'All tasks are done.', task_ids: [2, 3] }),
    says('All is done.'),
  ];
};

const ROLES: Readonly<Record<string, Role>> = {
  [COORDINATOR]: coordinator,
  research: () => [calls('Grep', { text: 'login' }), says(RESEARCH)],
  planner: () => [calls('plan_write', { tasks: TASKS }), says('Three tasks are planned.')],
  coder: () => [says('The adapter is written.\n\nIt has 80 lines.')],
  tester: () => [says('The tests are written.')],
  writer: () => [says('The page is written.')],
};

/** The model of the workflow, and the requests that it received. */
export function workflowModel() {
  return played(ROLES);
}

/** The tool of the catalog. */
export const grep = defineTool({
  name: 'Grep',
  description: 'Searches the code.',
  args: z.strictObject({ text: z.string() }),
  guarantee: 'idempotent',
  run: ({ text }) => `src/login.ts: ${text}`,
});

/** The skills of the workflow. */
export const SKILLS = ['research', 'planner', 'coder', 'tester', 'writer'].map((name) =>
  skill({
    name,
    description: `Does the work of a ${name}`,
    tools: name === 'research' ? ['Grep'] : name === 'planner' ? ['plan_write'] : [],
    body: BODY(name),
  }),
);

/** The team of the workflow. */
export function workflowTeam(more: Pick<TeamOptions, 'budget'> = {}) {
  return team({
    name: 'dev',
    ...more,
    skills: SKILLS,
    tools: [grep],
    coordinator: { model: 'main', identity: IDENTITY },
    planners: ['planner'],
  });
}

/** Plays the workflow to its end. */
export async function playWorkflow() {
  const { model, asked } = workflowModel();
  const crew = workflowTeam();
  const store = memory();
  const world = await openWorld({ store, models: { main: model }, parts: [crew] });
  const project = world.part(crew).project('auth');
  const run = await project.send('Move login to OAuth', { id: 'message-1' });
  const first = await run.text();
  const state = await project.idle({ within: '60s' });
  return { world, store, project, state, first, asked, team: crew, model };
}

/** The requests of a role. */
export function requestsOf(asked: readonly Asked[], role: string): readonly Asked['request'][] {
  return asked.filter((one) => one.role === role).map(({ request }) => request);
}
