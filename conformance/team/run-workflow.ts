/** Runs the workflow once, looks at the raw requests of its model, and verifies its world without skills and keys. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Asked, modelServer } from './model-server.js';
import { inFolder, programIn, run } from './run.js';
import type { Seen } from './seen.js';
import { bodyMark, briefMark, decide, RESEARCH_MARK, roleOf, SKILLS, writeSkill } from './workflow.js';

/** What a run of the script says. */
export interface Said {
  readonly lines: readonly string[];
  readonly isRight: boolean;
}

const CLI = fileURLToPath(new URL('../../packages/cli/src/bin.ts', import.meta.url));

const SOURCE = new URL('../../packages/specialists/src/', import.meta.url);

/** A body in the index of skills: a mistake that the requests show. */
const LEAK = {
  file: fileURLToPath(new URL('skills/library.ts', SOURCE)),
  from: '...{ name, digest, description, model,',
  to: '...{ name, digest, description: parsed.body, model,',
};

/** Runs the workflow. */
export async function runWorkflow(
  options: { readonly world?: string | undefined; readonly isLeaking?: boolean } = {},
): Promise<Said> {
  return inFolder(async (folder) => {
    const server = await modelServer(decide);
    const skills = path.join(folder, 'skills');
    for (const skill of SKILLS) writeSkill(skills, skill);
    const file = path.resolve(options.world ?? path.join(folder, 'w.db'));
    try {
      const program = await programIn(folder, 'owner', options.isLeaking ? LEAK : undefined);
      const { said } = await run([program, file, skills, server.url]);
      const seen = said as Seen;
      rmSync(skills, { recursive: true });
      const verified = await run(['--conditions=@reprise/source', '--import', 'tsx', CLI, 'verify', file]);
      const requests = scan(server.asked);
      return {
        lines: [...told(seen), ...requests.lines, `verify without skills and keys: exit ${verified.code}`],
        isRight: isWhole(seen) && requests.isRight && verified.code === 0,
      };
    } finally {
      server.stop();
    }
  });
}

/** Whether the workflow has come to its end, and nothing is left. */
export function isWhole({ status, unverified, tasks, results, memories, narrative, free }: Seen): boolean {
  const isDone = tasks.length === 3 && tasks.every((is) => is === 'completed');
  const isProcessed = results.length === 5 && results.every((one) => one.status === 'ok' && one.processed);
  const isKept = memories === 2 && narrative === 1 && free === 3;
  return status === 'done' && unverified === 0 && isDone && isProcessed && isKept;
}

function told({ tasks, results, frames, unverified }: Seen): string[] {
  const completed = tasks.filter((is) => is === 'completed').length;
  const processed = results.filter((one) => one.processed).length;
  return [
    `tasks completed ${completed}/${tasks.length}`,
    `results processed ${processed}/${results.length}`,
    `replay ${unverified === 0 ? 'identical' : `differs in ${unverified} frames`}`,
    `frames ${frames}`,
  ];
}

/** The tools of each role; a request lists them by name. */
const TOOLS: Readonly<Record<string, string>> = {
  coordinator:
    'memory_demote memory_query memory_reinforce memory_store memory_update memory_why narrative_append ' +
    'result_read results_list spawn_agent task_cancel task_graph task_retry task_skip',
  ...Object.fromEntries(SKILLS.map(({ name, tools }) => [name, tools.toSorted().join(' ')])),
};

/** The tasks of each role: a brief is foreign to all others. The planner writes all of them. */
const BRIEFS: Readonly<Record<string, string>> = { coder: 'code', tester: 'tests', writer: 'docs' };

/** Looks for what a request must not hold. */
export function scan(asked: readonly Asked[]): Said {
  const bodies = asked.filter((one) =>
    SKILLS.some(({ name }) => name !== roleOf(one) && one.raw.includes(bodyMark(name))),
  );
  const ofCoordinator = bodies.filter((one) => roleOf(one) === 'coordinator').length;
  const research = asked.filter((one) => roleOf(one) === 'coordinator' && one.raw.includes(RESEARCH_MARK)).length;
  const foreign = asked.filter(hasForeignBrief);
  const coordinatorBriefs = foreign.filter((one) => roleOf(one) === 'coordinator').length;
  const wrongTools = asked.filter((one) => one.tools.join(' ') !== TOOLS[roleOf(one)]);
  const listed = asked.find((one) => roleOf(one) === 'coordinator')?.tools.join(', ') ?? 'no request';
  return {
    lines: [
      `coordinator: ${ofCoordinator} bodies, tools: [${listed}]`,
      `coordinator: ${research} requests with research, ${coordinatorBriefs} with a brief`,
      `worker: ${foreign.length - coordinatorBriefs} foreign briefs, ${bodies.length - ofCoordinator} foreign bodies`,
      ...[...new Set(asked.map(roleOf))].toSorted().map((role) => toolsLine(role, asked)),
      ...wrongTools.slice(0, 4).map((one) => `${roleOf(one)} has other tools: ${one.tools.join(' ')}`),
      `requests ${asked.length}, the largest of the coordinator ${largest(asked)} bytes`,
    ],
    isRight: bodies.length + research + foreign.length + wrongTools.length === 0,
  };
}

function toolsLine(role: string, asked: readonly Asked[]): string {
  const one = asked.find((other) => roleOf(other) === role);
  return `${role}: [${one?.tools.join(', ') ?? ''}]`;
}

function hasForeignBrief(one: Asked): boolean {
  const role = roleOf(one);
  if (role === 'project-planner') return false;
  return Object.values(BRIEFS).some((key) => BRIEFS[role] !== key && one.raw.includes(briefMark(key)));
}

function largest(asked: readonly Asked[]): number {
  const sizes = asked.filter((one) => roleOf(one) === 'coordinator').map(({ raw }) => Buffer.byteLength(raw));
  return Math.max(0, ...sizes);
}
