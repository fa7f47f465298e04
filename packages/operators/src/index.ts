/** Answers to the questions of an operator, read from the file of a world. Each topic has an entry of its own as well. */
export * from './diff/index.js';
export * from './prompt/index.js';
