/** The contracts of trees: schemas, types and names. */
export * from './calls.js';
export * from './commands.js';
export * from './effects.js';
export * from './limits.js';
export * from './names.js';
export * from './node.js';
export * from './tree.js';
