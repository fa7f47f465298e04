/** `GET /api/team?project&at`: the tasks of a project. */
import type { WorldAt } from '@reprise/kernel';
import { frameOf } from '@reprise/operators/page';
import { wordsOfTeamWait } from '@reprise/operators/words';
import { projectAt } from '@reprise/specialists';
import { absent } from '../../ask/found.js';
import { AT, TEXT } from '../../ask/parameters.js';
import { type Asked, question } from '../../ask/question.js';
import type { TaskRow, TeamReport } from '../../contract/index.js';
import { outputLine } from './texts.js';

export const team = question({ project: TEXT, at: AT }, async (asked, { project, at }): Promise<TeamReport> => {
  const frame = await frameOf(asked.store, at);
  return asked.past.read(frame, asked.signal, (then) => teamAt(asked, then, { project, frame }));
});

async function teamAt(
  { store: { content } }: Asked,
  then: WorldAt,
  { project, frame }: { readonly project: string; readonly frame: number },
): Promise<TeamReport> {
  const found = await projectAt(then, project);
  if (found === undefined) throw absent('the world has no such project at this frame', 'project', project);
  const { cell, state } = found;
  const results = new Map(await cell.numbered('results'));
  const tasks: TaskRow[] = [];
  for (const [task, row] of await cell.numbered('tasks')) {
    const own = [...results.entries()].filter(([, one]) => one.task === task);
    const result = (row.result === null ? undefined : results.get(row.result)) ?? own.at(-1)?.[1];
    const output = result?.output_ref ?? null;
    tasks.push({
      ...{ task, title: row.title, specialist: row.skill, state: row.status, attempt: row.attempts },
      needs: row.depends_on.map((need) => need.task),
      session: result?.session ?? null,
      result: output === null ? null : await outputLine(content, output),
    });
  }
  return { frame, project, state: state.status, waits: (await found.waits()).map(wordsOfTeamWait), tasks };
}
