import { defineAgent } from 'reprise';
import { BEGIN, CALL, END, FAILED_CALL, STEP } from '../events.js';
import { add, adds } from '../kit.js';
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
  afterCrash: {
    because:
      'a call of which nobody knows whether it happened is no repetition: after it the count of equal calls begins anew',
    ends: [
      { events: [...BEGIN, ...STEP, ...FAILED_CALL, ...STEP, ...CALL, ...STEP, ...CALL, 'loop.detected', ...END] },
      {
        events: [
          ...BEGIN,
          ...STEP,
          ...CALL,
          ...STEP,
          ...FAILED_CALL,
          ...STEP,
          ...CALL,
          ...STEP,
          ...CALL,
          'loop.detected',
          ...END,
        ],
      },
    ],
  },
};
