/** Teams of specialists: a coordinator, a plan of tasks, and skills as files. */
export * from './pure/index.js';
