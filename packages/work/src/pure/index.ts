/** The contracts of work: effects that owners emit. No behavior. */
export * from './compose.js';
