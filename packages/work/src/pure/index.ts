/** What owners of cells share: jobs, the effects that they emit, and how cells with fewer rights are made. */
export * from './compose.js';
export * from './contracts.js';
export * from './job-names.js';
export * from './made.js';
