/** The projects of a world. */
import type { AgentWorld, AnyAgent } from '@reprise/agent';
import { aText, present, RepriseError, requireKnownOptions, wholeFrom } from '@reprise/contracts';
import { PROJECT_ID, type ProjectStatus } from '../pure/index.js';
import { Project } from './project.js';
import { projectRows, type RecordedProject } from './projections.js';

/** Selects projects of a list. */
export interface ProjectQuery {
  readonly status?: ProjectStatus;
  /** The length of a page; 100 when absent, 1,000 at most. */
  readonly limit?: number;
  /** Begins behind a page: its `next`. */
  readonly after?: string;
}

/** A project in a list. Times are in journal milliseconds. */
export interface ProjectRow extends Readonly<Omit<RecordedProject, 'team' | 'seq'>> {
  readonly id: string;
}

/** The projects of a team in a world: `world.part(team)`. */
export interface Projects {
  /**
   * The handle of a project, whether or not it exists: its first message or plan opens it.
   *
   * @param id 1 to 100 of a–z 0–9 . _ -
   * @throws RepriseError `invalid_argument`
   */
  project(id: string): Project;
  /** Projects, the last changed first. */
  all(query?: ProjectQuery): Promise<{ readonly items: readonly ProjectRow[]; readonly next?: string }>;
}

/**
 * Makes the handle of the part.
 *
 * @param team the name of the team
 * @param coordinator its coordinator in this world
 */
export function projectsOf(world: AgentWorld, team: string, coordinator: () => AnyAgent | undefined): Projects {
  return {
    project: (id) => new Project(world, requireId(id), team, coordinator),
    async all(query = {}) {
      requireKnownOptions(query, { status: aText, limit: wholeFrom(1), after: aText }, 'projects.all');
      const { status, limit, after } = query;
      const view = (await world.views()).view(projectRows);
      const page = await view.query({ index: 'updated', order: 'desc', ...present({ limit, after }) });
      const items = page.rows
        .filter(({ row }) => row.team === team && (status === undefined || row.status === status))
        .map(({ key, row: { seq: _, team: _team, ...row } }) => ({ id: String(key), ...row }));
      return { items, ...present({ next: page.cursor }) };
    },
  };
}

function requireId(id: unknown): string {
  if (typeof id === 'string' && PROJECT_ID.test(id)) return id;
  throw new RepriseError('invalid_argument', 'invalid id of a project', {
    where: 'project',
    expected: '1 to 100 of a–z 0–9 . _ -',
    actual: id,
  });
}
