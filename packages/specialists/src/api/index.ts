/** Teams as an app uses them. */
export type { By } from '@reprise/org';
export * from './project.js';
export { projectRows } from './projections.js';
export * from './projects.js';
export type * from './rows.js';
export * from './team.js';
export * from './waits.js';
