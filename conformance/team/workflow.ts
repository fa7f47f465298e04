/**
 * The workflow that a team is for: research, a planner with a pointer to it, three specialists of which two depend on the
 * first, and what is kept of their results. The model decides by what it is asked, so the same project comes to the same
 * end however often its process is killed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Asked, Call, Said } from './model-server.js';

/** What the user asks for. */
export const MESSAGE = 'Move the login of the shop to OAuth.';

/** A skill as a file: its body must not leave the requests of its own specialist. */
export interface SkillFile {
  readonly name: string;
  readonly description: string;
  readonly tools: readonly string[];
}

/** The skills of the workflow. */
export const SKILLS: readonly SkillFile[] = [
  { name: 'research', description: 'Finds out how things are done now', tools: ['grep'] },
  { name: 'project-planner', description: 'Cuts work into tasks', tools: ['plan_write', 'result_read'] },
  { name: 'coder', description: 'Writes code', tools: ['read', 'write'] },
  { name: 'tester', description: 'Writes tests', tools: ['read', 'write', 'result_read'] },
  { name: 'writer', description: 'Writes documentation', tools: ['read', 'memory_query'] },
];

/** A text that stands in the body of one skill only. */
export function bodyMark(name: string): string {
  return `BODY-OF-${name.toUpperCase()}`;
}

/** A text that stands in the brief of one task only. */
export function briefMark(key: string): string {
  return `BRIEF-OF-${key.toUpperCase()}`;
}

/** A text in the research that no summary reaches. */
export const RESEARCH_MARK = 'DEEP-IN-THE-RESEARCH';

/** Writes a skill in the seed's form. @returns the file */
export function writeSkill(folder: string, { name, description, tools }: SkillFile): string {
  mkdirSync(folder, { recursive: true });
  const head = `name: ${name}\ndescription: ${description}\ntriggers: [${name}]\ntools: [${tools.join(', ')}]`;
  const file = path.join(folder, `${name}.md`);
  writeFileSync(file, `---\n${head}\n---\n\n${bodyMark(name)}: ${'work with care. '.repeat(20)}\n`);
  return file;
}

/** The tasks of the plan. */
export const PLAN = [
  { key: 'code', skill: 'coder', depends_on: [] },
  { key: 'tests', skill: 'tester', depends_on: [{ task: 'code', pass: 'full' }] },
  { key: 'docs', skill: 'writer', depends_on: ['code'] },
].map(({ key, ...rest }) => ({
  key,
  title: `The ${key}`,
  context: `${briefMark(key)}: ${'the login is in src/login.ts, and sessions are cookies; '.repeat(5)}`,
  ...rest,
}));

/** The role of an agent, by its prompt. */
export function roleOf({ system }: Pick<Asked, 'system'>): string {
  return /^# Your skill: (\S+)/m.exec(system)?.[1] ?? 'coordinator';
}

/** How the planner writes tasks: by a call of its project, or, to show what that is for, by a tool that sends a request. */
export type Planning = 'owner calls' | 'handlers';

/** The tool of a planner that sends a request, as no tool of a team should. */
export const PLAN_HANDLER = 'send_plan';

/** The skills of the workflow, with a planner that writes tasks in one of the two ways. */
export function skillsFor(planning: Planning): readonly SkillFile[] {
  if (planning === 'owner calls') return SKILLS;
  return SKILLS.map((one) => (one.name === 'project-planner' ? { ...one, tools: [PLAN_HANDLER] } : one));
}

/** What the models of the team say. */
export function decide(asked: Asked): Said {
  return decideFor('owner calls')(asked);
}

/** What the models of a team say, whose planner writes tasks in one of the two ways. */
export function decideFor(planning: Planning): (asked: Asked) => Said {
  return (asked) => {
    const role = roleOf(asked);
    if (role === 'coordinator') return coordinator(asked);
    return role === 'project-planner' ? planner(asked, planning) : specialist(role, asked);
  };
}

function coordinator({ last, step }: Asked): Said {
  if (step > 0) return { text: 'That is under way.' };
  const calls: Call[] = last.includes(MESSAGE)
    ? [spawn('Find how the login works now', 'research', 'The code is in src.')]
    : resultsIn(last).flatMap((n) => NEXT[n] ?? []);
  return calls.length === 0 ? { text: 'Noted.' } : { calls };
}

/** The numbers of the results that a wake shows. */
export function resultsIn(text: string): number[] {
  return [...text.matchAll(/^Result (\d+): /gm)].map(([, n]) => Number(n));
}

/** What the coordinator does about each result. */
const NEXT: Readonly<Record<number, readonly Call[]>> = {
  1: [spawn('Plan the move', 'project-planner', 'What was found: [agent_result:1]')],
  2: [{ tool: 'spawn_agent', args: { task_id: 1 } }],
  3: [
    { tool: 'spawn_agent', args: { task_id: 2 } },
    { tool: 'spawn_agent', args: { task_id: 3 } },
  ],
  4: [keep(4), { tool: 'narrative_append', args: { text: 'The tests cover the new login.', task_ids: [2] } }],
  5: [keep(5)],
};

function spawn(task: string, skill: string, context: string): Call {
  return { tool: 'spawn_agent', args: { task, skill, context } };
}

function keep(result: number): Call {
  const args = { text: `What result ${result} taught us.`, result_id: result, key: `of-${result}` };
  return { tool: 'memory_store', args };
}

function planner({ step }: Asked, planning: Planning): Said {
  if (step > 0) return { text: 'Three tasks: code, then tests and docs.\n\nThe plan is written.' };
  if (planning === 'handlers') return { calls: [{ tool: PLAN_HANDLER, args: { text: 'plan' } }] };
  return { calls: [{ tool: 'plan_write', args: { tasks: PLAN } }] };
}

function specialist(role: string, { step }: Asked): Said {
  if (step === 0) return { calls: [{ tool: role === 'research' ? 'grep' : 'read', args: { text: 'login' } }] };
  const text = `${role} is done: the login is understood.\n\n${'One more detail of the work. '.repeat(60)}`;
  return { text: role === 'research' ? `${text}\n${RESEARCH_MARK}\n${'More. '.repeat(400)}` : text };
}
