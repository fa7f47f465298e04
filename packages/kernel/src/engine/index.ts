export { fittedState } from './fitted-state.js';
export { derivedOf, type FoldedFrame, foldIngress, REVIVE, type SealedFrame } from './fold.js';
export { type EmittedEffect, EngineCaches, type EngineEnv } from './frame-fold.js';
export * from './leaf-key.js';
export type {
  CellLeaf,
  EffectLeaf,
  LeafChange,
  LeafReader,
  LogLeaf,
  PendingLeaf,
  PlanLeaf,
  WorldLeaf,
} from './leaves.js';
export * from './limits.js';
export type { StagedBlob } from './log.js';
export { purity, runPure } from './purity.js';
export { Exhausted, Fault, Miss, Refusal, Rejected } from './signals.js';
