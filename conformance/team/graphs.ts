/** Random graphs of tasks in two projects on one pool: they are launched in the order that `launch-order.ts` says. */
import { randomFrom } from '../random.js';
import { COMPLETED, Desk } from './desk.js';
import { type GraphTask, launchOrder } from './launch-order.js';
import type { Said } from './run-workflow.js';
import { Stage, TEXT } from './stage.js';

const SLOTS = 3;
const PRIORITIES = [10, 50, 100];
const PROJECTS = ['p0', 'p1'];

function randomGraph(random: () => number, size: number): GraphTask[] {
  const upTo = (n: number): number => Math.floor(random() * n);
  return Array.from({ length: size }, (_, i) => {
    const needs = new Set(Array.from({ length: upTo(4) }, () => 1 + upTo(Math.max(1, i))).filter((n) => n <= i));
    return { priority: PRIORITIES[upTo(3)] ?? 50, needs: [...needs].sort((a, b) => a - b) };
  });
}

/** Launches graphs, so many seeds after another. */
export function launchGraphs(seeds: number, first: number, makeStage?: ConstructorParameters<typeof Desk>[2]): Said {
  const differing: string[] = [];
  for (let seed = first; seed < first + seeds; seed++) {
    const random = randomFrom(seed * 7919 + 1);
    const graphs = PROJECTS.map(() => randomGraph(random, 50));
    const wanted = launchOrder(graphs, SLOTS, choosing(seed));
    const found = launch(graphs, choosing(seed), makeStage);
    const at = wanted.findIndex((name, i) => found[i] !== name);
    if (at < 0 && found.length === wanted.length) continue;
    differing.push(`seed ${seed}, launch ${at}: ${found[at]}; the reference: ${wanted[at]}`);
  }
  const equal = seeds - differing.length;
  return { lines: [`${equal} equal`, ...differing.slice(0, 4)], isRight: equal === seeds };
}

function choosing(seed: number): (running: number) => number {
  const random = randomFrom(seed + 1);
  return (running) => Math.floor(random() * running);
}

function launch(
  graphs: readonly (readonly GraphTask[])[],
  which: (running: number) => number,
  makeStage: ConstructorParameters<typeof Desk>[2] = (hear) => new Stage(hear),
): string[] {
  const jobs: string[] = [];
  const hear = ({
    event,
    to,
    rejected,
  }: {
    event: { name: string };
    to: readonly string[];
    rejected: unknown;
  }): void => {
    if (event.name === 'flow/Granted@1' && rejected === undefined) jobs.push(to[1] ?? '');
  };
  const desk = new Desk({ dispatch: 'auto', on_failed: 'wait', slots: SLOTS }, hear, makeStage);
  for (const [i, project] of PROJECTS.entries()) {
    const tasks = (graphs[i] ?? []).map(({ priority, needs }, at) => ({
      ...{
        key: `t${at + 1}`,
        title: `t${at + 1}`,
        context_ref: TEXT,
        context_bytes: 300,
        pointers: [],
        skill: 'worker',
      },
      ...{ depends_on: needs.map((n) => ({ task: `t${n}`, pass: 'none' })), priority },
    }));
    desk.tell(project, 'specialists/Plan@1', { command_id: 'plan', tasks });
    answerAll(desk);
  }
  for (let ended = 0; ended < 1_000; ended++) {
    answerAll(desk);
    // In the order of their launches.
    const running = jobs.flatMap((key) => {
      const session = desk.stage.sessions.get(key);
      return session === undefined || session.run === null ? [] : [session];
    });
    const next = running[which(running.length)];
    if (next === undefined) break;
    desk.stage.endRun(next, COMPLETED);
  }
  return jobs.map((key) => {
    const [project = '', n = ''] = key.split('/j');
    const row = desk.stage.table('specialists/Project@1', project, 'results').get(n.padStart(12, '0'));
    return `${PROJECTS.indexOf(project)}.${(row as { readonly task: number }).task}`;
  });
}

function answerAll(desk: Desk): void {
  for (let [plan] = desk.stage.plans; plan !== undefined; [plan] = desk.stage.plans) desk.answer(plan);
}
