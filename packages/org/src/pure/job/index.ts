/** What owners of cells share: jobs, the effects that they emit, and how cells with fewer rights are made. */
export * from './actors.js';
export * from './agent-jobs.js';
export * from './compose.js';
export * from './contracts.js';
export { jobReducer } from './job.js';
export * from './job-names.js';
export { type JobState, jobState } from './job-state.js';
export * from './made.js';
export * from './passed-calls.js';
