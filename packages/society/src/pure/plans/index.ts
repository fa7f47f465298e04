/** All plans of a society: part of the app of every world with one. */
export { callCheckPlan } from '../contracts/call/gate.js';
export { checkSwarmPlan, joinPlan } from '../contracts/swarm/effects.js';
export { seePlan } from './content-gate.js';
export { archivePlan, challengePlan, keygenPlan, ownKeyPlan, provePlan, removePlan } from './identity.js';
export { memoryPlan } from './memory.js';
export { comparePlan, copyPlan, endPlan, fillPlan, returnPlan } from './returns.js';
