/** The contracts of projects: names, bounds, events, rows, facts and effects. */
export * from './calls.js';
export * from './commands.js';
export * from './effects.js';
export * from './names.js';
export * from './rows.js';
export * from './skills.js';
export * from './state.js';
export * from './team.js';
