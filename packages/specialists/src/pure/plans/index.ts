/** The plans of projects. */
export * from './read.js';
export * from './show.js';
export * from './wake.js';
