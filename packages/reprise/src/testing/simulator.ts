/** Simulated worlds: random requests, crashes and failures, from a seed. */
export {
  type Ask,
  type Choices,
  type Clients,
  type CrashableStore,
  type Execution,
  formatFailure,
  type SimulationAct,
  type SimulationFailure,
  type SimulationPlay,
  type SimulationReport,
  type SimulationRun,
  type SimulationSubject,
  type Sometimes,
  simulate,
} from '@reprise/testkit/simulator';
