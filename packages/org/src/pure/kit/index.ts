/** What the reducers of organizations share: keys, refusals, calls and their tools, purposes of plans, use of budgets, graphs. */
export * from './calls.js';
export * from './definitions.js';
export * from './graph.js';
export * from './keys.js';
export * from './ledger.js';
export * from './owner-tool.js';
export * from './purposes.js';
export * from './refusal.js';
export * from './rest.js';
export * from './texts.js';
