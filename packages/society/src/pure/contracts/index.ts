/** The contracts of a society: names, schemas and bounds. */

export * from './agent/capability.js';
export * from './agent/failed.js';
export * from './agent/identity.js';
export * from './call/gate.js';
export * from './cell/names.js';
export { agentId, entityId, nameId, role, tier } from './cell/statement.js';
export * from './entity/agent-tools.js';
export * from './entity/entity.js';
export * from './entity-parts.js';
export * from './group/group.js';
export * from './group/member.js';
export * from './group/seeing.js';
export { saltedLinksAs } from './links.js';
export * from './memory/acts.js';
export * from './memory/l1.js';
export * from './memory/tools.js';
export * from './staging/proofs.js';
export * from './staging/returns.js';
export * from './swarm/effects.js';
export * from './swarm/swarm.js';
export * from './swarm/tools.js';
