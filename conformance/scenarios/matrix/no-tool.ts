import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** An answer and nothing else. */
export const noTool: Scenario = {
  name: 'no-tool',
  shows: 'A model answers at once.',
  agents: [adder],
  says: [{ text: 'Hello.' }],
  ends: {
    stop: COMPLETED,
    text: 'Hello.',
    requests: 1,
    events: [...BEGIN, ...STEP, ...END],
  },
};
