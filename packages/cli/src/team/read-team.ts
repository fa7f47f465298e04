/** Reads the projects of a world from its journal. Takes no lock, so a process may be running them. */
import { RepriseError } from '@reprise/contracts';
import { type ReadonlyStore, worldAt } from '@reprise/kernel';
import { readViews } from '@reprise/kernel/views';
import { projectAt, projectRows, type ReadProject } from '@reprise/specialists';
import { allPackages } from '../world/built-in.js';

/** The projects of a world: their ids, the oldest first. */
export async function projectsIn(store: ReadonlyStore): Promise<readonly string[]> {
  await using views = await readViews(store, [projectRows]);
  const found: { readonly id: string; readonly started: number }[] = [];
  for await (const { key, row } of views.view(projectRows).each({ limit: 1_000 }))
    found.push({ id: String(key), started: row.started });
  return found.toSorted((a, b) => a.started - b.started || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
}

/**
 * The project that is meant: the named one, or the only one.
 *
 * @throws RepriseError `invalid_argument` when the world has no such project, or several and none was named
 */
export function projectNamed(all: readonly string[], named: string | undefined): string {
  const [first, second] = all;
  if (named !== undefined && all.includes(named)) return named;
  if (named === undefined && first !== undefined && second === undefined) return first;
  const what =
    named === undefined && first !== undefined ? 'the world has several projects' : 'the world has no such project';
  throw new RepriseError('invalid_argument', what, {
    where: '--project',
    ...(named === undefined ? {} : { actual: named }),
    expected: all.length === 0 ? 'a project, which `reprise team run MESSAGE` begins' : all.slice(0, 12).join(', '),
  });
}

/**
 * Reads a project as of the last frame of a store.
 *
 * @throws RepriseError `invalid_argument` when it does not exist
 */
export async function readProject(store: ReadonlyStore, id: string): Promise<ReadProject> {
  const { app } = await allPackages();
  const { seq } = await store.journal.head();
  const project = await projectAt(await worldAt(store, app, seq), id);
  if (project !== undefined) return project;
  throw new RepriseError('invalid_argument', 'the world has no such project', { actual: id });
}
