import { defineAgent } from 'reprise';
import * as z from 'zod';
import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import type { Scenario } from '../scenario.js';

/** An answer of a shape. */
export const returns: Scenario = {
  name: 'returns',
  shows: 'When an answer does not fit the agent’s `returns` schema, the model is asked once more.',
  agents: [
    defineAgent({ name: 'sums', model: 'main', instructions: 'Sum.', returns: z.strictObject({ sum: z.int() }) }),
  ],
  says: [{ text: 'It is five.' }, { text: '{"sum":5}' }],
  ends: {
    stop: COMPLETED,
    text: '{"sum":5}',
    requests: 2,
    shown: /it is not JSON/,
    events: [...BEGIN, ...STEP, 'turn.started', ...STEP, ...END],
  },
};
