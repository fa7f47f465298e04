/** Simulated worlds: random requests, crashes and failures, each run from a seed. */
export type { Choices } from './choices.js';
export type { Ask, Clients } from './clients.js';
export {
  formatFailure,
  type SimulationFailure,
  type SimulationReport,
  simulate,
} from './simulate.js';
export type { CrashableStore } from './simulated-disk.js';
export type { Execution } from './simulated-outside.js';
export type { SimulatedProcess } from './simulated-process.js';
export type { Sometimes } from './sometimes.js';
export type { SimulationAct, SimulationPlay, SimulationRun, SimulationSubject } from './subject.js';
