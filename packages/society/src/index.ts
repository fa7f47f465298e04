/** Societies of agents: identities, capabilities, memory by scope, trust, swarms and signed returns. */
export * from './pure/index.js';
