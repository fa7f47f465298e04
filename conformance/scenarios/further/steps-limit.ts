import { defineAgent } from 'reprise';
import { BEGIN, CALL, END, STEP } from '../events.js';
import { add, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** No more steps. */
export const stepsLimit: Scenario = {
  name: 'steps-limit',
  shows: 'A run that needs more steps than its limit ends at the limit.',
  agents: [defineAgent({ name: 'stepper', model: 'main', instructions: 'Step.', tools: [add], limits: { steps: 2 } })],
  says: [{ calls: [adds('a', 1, 1)] }, { calls: [adds('b', 2, 2)] }],
  ends: {
    stop: { kind: 'LimitsExceeded', limit: 'max_steps' },
    text: '',
    requests: 2,
    events: [...BEGIN, ...STEP, ...CALL, ...STEP, ...CALL, 'limit.reached', ...END],
  },
};
