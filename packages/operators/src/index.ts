/** Answers to the questions of an operator, read from the file of a world. Each topic has an entry of its own as well. */
export * from './attempts/index.js';
export * from './cost/index.js';
export * from './diff/index.js';
export * from './fork/index.js';
export * from './memory/index.js';
export * from './names/index.js';
export * from './prompt/index.js';
export * from './readers/index.js';
export * from './rights/index.js';
export * from './society/index.js';
export { type StoryEntry, type StoryOfOptions, type StoryReport, storyOf, storyReport } from './story/index.js';
export * from './waiting/index.js';
