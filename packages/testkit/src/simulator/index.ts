export { Choices } from './choices.js';
export { type Ask, Clients, NEVER_REFUSED_AS } from './clients.js';
export { type AuditedEffect, JournalAuditor } from './journal-auditor.js';
export { type FailingChoices, type ShrinkOptions, shrinkChoices } from './shrink.js';
export {
  formatFailure,
  type SimulateOptions,
  type SimulationFailure,
  type SimulationReport,
  simulate,
} from './simulate.js';
export type { CrashableStore } from './simulated-disk.js';
export type { Execution, SimulatedAdapterOptions, SimulatedOutside } from './simulated-outside.js';
export type { SimulatedProcess } from './simulated-process.js';
export {
  ALWAYS_EXPECTED,
  runSimulation,
  type SimulatedRun,
  type SimulationAct,
  type SimulationOptions,
  type SimulationPlay,
  type SimulationRun,
  type SimulationSubject,
  TROUBLES,
  type Trouble,
} from './simulation.js';
export { Sometimes } from './sometimes.js';
