import { BEGIN, CALL, COMPLETED, END, STEP } from '../events.js';
import { adder, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A call that may happen once. */
export const singleTool: Scenario = {
  name: 'single-tool',
  shows: 'A model calls a tool and reads its answer.',
  agents: [adder],
  says: [{ calls: [adds('a', 2, 3)] }, { text: 'It is 5.' }],
  ends: {
    stop: COMPLETED,
    text: 'It is 5.',
    requests: 2,
    events: [...BEGIN, ...STEP, ...CALL, ...STEP, ...END],
    shown: /"5"/,
  },
};
