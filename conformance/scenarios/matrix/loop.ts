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
  shows: 'A model repeats the same call with the same arguments: the loop is detected, and the run fails.',
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
      'a call whose execution is unknown does not count as a repetition, so the count of equal calls starts again',
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
