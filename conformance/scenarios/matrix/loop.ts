import { defineAgent } from 'reprise';
import { add, adds, BEGIN, CALL, END, STEP } from '../kit.js';
import type { Scenario } from '../scenario.js';

const looper = defineAgent({
  name: 'looper',
  model: 'main',
  instructions: 'Loop.',
  tools: [add],
  loop: { repeats: 2, actions: ['fail'] },
});

/** The same call again. */
export const loop: Scenario = {
  name: 'loop',
  shows: 'A model calls the same tool with the same arguments again: the loop is seen, and the run fails.',
  agents: [looper],
  says: [{ calls: [adds('a', 1, 1)] }],
  ends: {
    stop: { kind: 'Failed', code: 'validation_error/loop_detected', retryable: false, stage: 'loop' },
    text: '',
    requests: 2,
    events: [...BEGIN, ...STEP, ...CALL, ...STEP, ...CALL, 'loop.detected', ...END],
  },
};
