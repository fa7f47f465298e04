/** Teams as an app uses them. */
export type { RequestBy as ProjectBy } from '@reprise/agent';
export * from './project.js';
export { projectRows } from './projections.js';
export * from './projects.js';
export * from './team.js';
export * from './waits.js';
