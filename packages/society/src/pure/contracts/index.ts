/** The contracts of a society: names, schemas and bounds. */
export * from './names.js';
