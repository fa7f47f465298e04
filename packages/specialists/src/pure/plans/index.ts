/** The plans of projects: reading the team, waking the coordinator, answering calls that read. */
export * from './read.js';
export * from './show.js';
export * from './wake.js';
