/** The contracts of a society: names, schemas and bounds. */

export * from './agent/archive.js';
export * from './agent/capability.js';
export * from './agent/failed.js';
export * from './agent/identity.js';
export { agentIdOfKey } from './agent/key-id.js';
export * from './agent/revived.js';
export * from './call/commands.js';
export * from './call/gate.js';
export { isPlainLink, withoutSaltedLinks } from './call/links.js';
export * from './cell/names.js';
export * from './entity/agent-calls.js';
export * from './entity/entity.js';
export * from './entity-parts.js';
export * from './entity-parts.js';
export * from './group/group.js';
export * from './group/member.js';
export * from './group/seeing.js';
export * from './memory/acts.js';
export * from './memory/calls.js';
export * from './memory/l1.js';
export * from './staging/proofs.js';
export * from './staging/returns.js';
export * from './staging/staging.js';
export * from './swarm/effects.js';
export * from './swarm/swarm.js';
