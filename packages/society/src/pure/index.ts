/** The replayed half of a society. */
export * from './compile/index.js';
export * from './contracts/index.js';
export { archivePlan } from './plans/archive.js';
export { seePlan } from './plans/content-gate.js';
export { challengePlan, ownKeyPlan, provePlan, removePlan } from './plans/identity.js';
export { keygenPlan } from './plans/keygen.js';
export { memoryPlan } from './plans/memory.js';
export { comparePlan, copyPlan, endPlan, fillPlan, returnPlan } from './plans/returns.js';
export { entityReducer } from './reducer/entity.js';
export { MEMBER_JOB } from './reducer/entity-work.js';
export { groupReducer } from './reducer/group.js';
export { l1Reducer } from './reducer/l1.js';
export { stagingReducer } from './reducer/staging.js';
export { swarmReducer } from './reducer/swarm.js';
