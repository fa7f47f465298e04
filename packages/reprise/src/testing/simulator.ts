/** Simulated worlds: random requests, crashes and failures, from a seed. */
import { testkit } from './testkit.js';

const kit = await testkit(() => import('@reprise/testkit/simulator'));

export type {
  Ask,
  Choices,
  Clients,
  CrashableStore,
  Execution,
  SimulationAct,
  SimulationFailure,
  SimulationPlay,
  SimulationReport,
  SimulationRun,
  SimulationSubject,
  Sometimes,
} from '@reprise/testkit/simulator';

/** A failure as text for a person. */
export const formatFailure = kit.formatFailure;

/** Simulates a subject, seed after seed, until a run breaks a promise or all are done. */
export const simulate = kit.simulate;
