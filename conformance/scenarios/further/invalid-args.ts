import { BEGIN, CALL, COMPLETED, END, FAILED_CALL, STEP } from '../events.js';
import { adder, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Arguments that do not fit. */
export const invalidArgs: Scenario = {
  name: 'invalid-args',
  shows: 'When arguments do not fit the schema, no handler runs and the model is informed.',
  agents: [adder],
  says: [
    { calls: [{ id: 'a', tool: 'add', args: { a: 'two', b: 3 } }] },
    { calls: [adds('b', 2, 3)] },
    { text: 'It is 5.' },
  ],
  ends: {
    stop: COMPLETED,
    text: 'It is 5.',
    requests: 3,
    shown: /do not fit the schema of add; nothing was done/,
    events: [...BEGIN, ...STEP, ...FAILED_CALL, ...STEP, ...CALL, ...STEP, ...END],
  },
};
