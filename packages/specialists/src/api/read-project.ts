/** Reads a project of a world as it was after a frame, also from a file that another process has open. */
import type { WorldAt } from '@reprise/kernel';
import { CellReader } from '@reprise/org';
import { PROJECT, type ProjectState, type projectTables } from '../pure/index.js';
import { readTeamWaits, type TeamWait } from './waits.js';

/** A project as it was. */
export interface ReadProject {
  readonly id: string;
  readonly state: ProjectState;
  readonly at: WorldAt;
  readonly cell: CellReader<ProjectState, typeof projectTables>;
  /** What it waited for, as `project.waits()` says it. */
  waits(): Promise<readonly TeamWait[]>;
}

/** The project of a world after a frame; undefined when it did not exist. */
export async function projectAt(at: WorldAt, id: string): Promise<ReadProject | undefined> {
  const cell = new CellReader<ProjectState, typeof projectTables>(at, [PROJECT, id]);
  const state = await cell.state();
  if (state === undefined) return undefined;
  const waits = async () => (await readTeamWaits({ id, state, cell, sessions: at })).waits;
  return { id, state, at, cell, waits };
}
