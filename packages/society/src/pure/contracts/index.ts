/** The contracts of a society: names, schemas and bounds. */
export * from './agent-calls.js';
export * from './capability.js';
export * from './entity.js';
export * from './entity-parts.js';
export * from './gate.js';
export * from './group.js';
export * from './identity.js';
export { agentIdOfKey } from './key-id.js';
export * from './l1.js';
export * from './member.js';
export * from './memory-acts.js';
export * from './memory-calls.js';
export * from './names.js';
export * from './proofs.js';
export * from './returns.js';
export * from './staging.js';
export * from './swarm.js';
export * from './swarm-effects.js';
