/** The contracts of a society: names, schemas and bounds. */
export * from './capability.js';

export * from './group.js';
export * from './l1.js';
export * from './names.js';
