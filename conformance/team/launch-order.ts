/** In which order tasks of projects on one pool are launched: a short program that says it without any of the packages. */

/** A task of a random graph: its number is its place, from 1. */
export interface GraphTask {
  readonly priority: number;
  /** The numbers of tasks before it. */
  readonly needs: readonly number[];
}

interface InLine {
  readonly name: string;
  readonly project: number;
  readonly task: number;
  readonly priority: number;
  readonly at: number;
}

/**
 * The launches, as `project.task`: a slot goes to the highest priority in line, then to what came into line first. What
 * the end of a task has unblocked joins the line before its slot goes to the line.
 *
 * @param which of so many that run, the one that ends next
 */
export function launchOrder(
  projects: readonly (readonly GraphTask[])[],
  slots: number,
  which: (running: number) => number,
): string[] {
  const line: InLine[] = [];
  const running: InLine[] = [];
  const launched: string[] = [];
  const done = projects.map(() => new Set<number>());
  let entered = 0;
  const grant = (): void => {
    while (running.length < slots && line.length > 0) {
      line.sort((a, b) => b.priority - a.priority || a.at - b.at);
      const next = line.shift() as InLine;
      running.push(next);
      launched.push(next.name);
    }
  };
  const enter = (project: number, isReady: (task: GraphTask) => boolean): void => {
    const ready = (projects[project] ?? []).flatMap((one, i) => (isReady(one) ? [{ ...one, task: i + 1 }] : []));
    for (const { task, priority } of ready.sort((a, b) => b.priority - a.priority || a.task - b.task)) {
      line.push({ name: `${project}.${task}`, project, task, priority, at: entered++ });
      grant();
    }
  };
  for (const project of projects.keys()) enter(project, ({ needs }) => needs.length === 0);
  while (running.length > 0) {
    const at = which(running.length);
    const { project, task } = running[at] as InLine;
    const ended = done[project] as Set<number>;
    ended.add(task);
    enter(project, ({ needs }) => needs.includes(task) && needs.every((need) => ended.has(need)));
    running.splice(at, 1);
    grant();
  }
  return launched;
}
