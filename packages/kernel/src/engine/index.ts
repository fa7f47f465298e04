export { approvalDigest } from './commands.js';
export { fittedState } from './fitted-state.js';
export { derivedOf, type FoldedFrame, foldIngress, REVIVE, type SealedFrame } from './fold.js';
export {
  type EmittedEffect,
  EngineCaches,
  type EngineEnv,
  type FaultedDelivery,
  type SettledEffect,
} from './frame-fold.js';
export { gateRead, mayAnswer, type ReadVerdict } from './gate.js';
export * from './leaf-key.js';
export type {
  AskedQuestion,
  CellLeaf,
  EffectLeaf,
  ForkLeaf,
  LeafChange,
  LeafReader,
  LogLeaf,
  PendingLeaf,
  PlanLeaf,
  RightsLeaf,
  SettledLeaf,
  WorldLeaf,
} from './leaves.js';
export * from './limits.js';
export type { StagedBlob } from './log.js';
export { seenState, writerOf } from './migrate.js';
export { isSameQuestion } from './parked.js';
export { purity, runPure, violate } from './purity.js';
export { readTable } from './read-table.js';
export { type PlanDifference, planDifference } from './rebuild-plan.js';
export { type Authority, authorityOf, cellOf, declaredRights, holderIn, holderOf, isNobody } from './rights.js';
export { Exhausted, Fault, Miss, Refusal, Rejected } from './signals.js';
export { type Subject, subjectOfLeaf, toldOf } from './told-of.js';
export { effectOfTimer } from './wake.js';
