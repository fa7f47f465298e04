/** What the simulator is run against. */
import type { SimulationSubject } from '@reprise/testkit/simulator';
import { agentSubject } from './agent-subject.js';
import { fleetSubject } from './fleet-subject.js';
import { gateSubject } from './gate-subject.js';
import { jobSubject } from './job-subject.js';
import { memorySubject } from './memory-subject.js';
import { organizationSubject } from './organization-subject.js';
import { programSubject } from './program-subject.js';
import { societySubject } from './society-subject.js';

/** Every subject. */
export const SUBJECTS: readonly SimulationSubject[] = [
  gateSubject,
  programSubject,
  agentSubject,
  organizationSubject,
  memorySubject,
  jobSubject,
  societySubject,
  fleetSubject(),
];
