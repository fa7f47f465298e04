/** The replayed half of a society. */
export * from './compile/index.js';
export * from './contracts/index.js';
export * from './plans/index.js';
export { entityReducer } from './reducer/entity/entity.js';
export { MEMBER_JOB } from './reducer/entity/work.js';
export { groupReducer } from './reducer/group/group.js';
export { l1Reducer } from './reducer/memory/l1.js';
export { scoreOf } from './reducer/memory/trust.js';
export { stagingReducer } from './reducer/staging/staging.js';
export { swarmReducer } from './reducer/swarm/swarm.js';
