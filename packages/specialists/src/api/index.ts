/** Teams as an app uses them. */
export * from './project.js';
export { projectRows } from './projections.js';
export * from './projects.js';
export type { ProjectBy } from './requests.js';
export * from './team.js';
