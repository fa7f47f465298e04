/** Teams as an app uses them. */
export type { By } from '@reprise/org';
export * from './project.js';
export { projectRows } from './projections.js';
export type { ProjectQuery, ProjectRow, Projects } from './projects.js';
export { projectAt, type ReadProject } from './read-project.js';
export type { NarrativeEntry, ResultRow, TaskRow } from './rows.js';
export * from './team.js';
export { type TeamWait, teamEndsFromOutside } from './waits.js';
