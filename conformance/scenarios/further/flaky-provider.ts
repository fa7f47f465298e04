import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A provider that recovers. */
export const flakyProvider: Scenario = {
  name: 'flaky-provider',
  shows: 'A provider that fails once is asked again with the same bytes; the run never hears of it.',
  agents: [adder],
  says: [{ fails: { status: 503, message: 'Busy.' } }, { text: 'Here I am.' }],
  ends: {
    stop: COMPLETED,
    text: 'Here I am.',
    requests: 2,
    answered: 1,
    events: [...BEGIN, ...STEP, ...END],
  },
};
