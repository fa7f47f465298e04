export { fittedState } from './cell/fitted-state.js';
export { seenState, writerOf } from './cell/migrate.js';
export { purity, runPure, violate } from './cell/purity.js';
export { approvalDigest } from './command/commands.js';
export { foldIngress, REVIVE, type SealedFrame } from './fold.js';
export type {
  EmittedEffect,
  EngineEnv,
  FaultedDelivery,
  RunningPlans,
  SettledEffect,
} from './frame/frame-fold.js';
export { effectOfTimer } from './frame/wake.js';
export { concernedCells, type Subject, subjectOfLeaf } from './gate/concerned-cells.js';
export { gateRead, gateSender, mayAnswer, type ReadVerdict, sendText } from './gate/gate.js';
export { ancestorsOf, authorityOf, cellOf, declaredRights, holderIn, holderOf, isNobody } from './gate/rights.js';
export * from './leaf/bounds.js';
export { detailsOfFailure } from './leaf/failed.js';
export * from './leaf/leaf-key.js';
export type {
  AskedQuestion,
  CellLeaf,
  EffectLeaf,
  FailedLeaf,
  ForkLeaf,
  KeyedLeaf,
  LeafChange,
  LeafOf,
  LeafReader,
  ListedKind,
  LogHead,
  LogLeaf,
  PlanLeaf,
  RightsLeaf,
  WorldLeaf,
} from './leaf/leaves.js';
export { namedIn } from './leaf/leaves.js';
export { Exhausted, Fault, Miss, Refusal, Rejected } from './leaf/signals.js';
export { firstDecision, type ItemName } from './ledger/first-decision.js';
export { isSameQuestion } from './ledger/parked.js';
export { planDifference } from './plan/rebuild-plan.js';
export { readTable } from './table/read-table.js';
