import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A provider that recovers. */
export const flakyProvider: Scenario = {
  name: 'flaky-provider',
  shows: 'A request that fails once is retried with the same bytes; the run does not notice.',
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
