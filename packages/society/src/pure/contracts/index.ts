/** The contracts of a society: names, schemas and bounds. */
export * from './capability.js';
export * from './names.js';
