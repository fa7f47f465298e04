/** Teams of specialists: a coordinator, a plan of tasks, and skills as files. */
export * from './api/index.js';
export * from './pure/index.js';
export * from './skills/index.js';
