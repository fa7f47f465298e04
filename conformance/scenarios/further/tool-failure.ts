import { defineAgent, defineTool } from 'reprise';
import * as z from 'zod';
import { BEGIN, CALL, COMPLETED, END, FAILED_CALL, STEP } from '../events.js';
import type { Scenario } from '../scenario.js';

const divide = defineTool({
  name: 'divide',
  description: 'Divides.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => {
    if (b === 0) throw new RangeError('division by zero');
    return a / b;
  },
});

/** A tool that fails, and a model that tries again. */
export const toolFailure: Scenario = {
  name: 'tool-failure',
  shows: 'A handler that throws does not end the run: the model reads the message and calls again.',
  agents: [defineAgent({ name: 'divider', model: 'main', instructions: 'Divide.', tools: [divide] })],
  says: [
    { calls: [{ id: 'a', tool: 'divide', args: { a: 6, b: 0 } }] },
    { calls: [{ id: 'b', tool: 'divide', args: { a: 6, b: 2 } }] },
    { text: 'It is 3.' },
  ],
  ends: {
    stop: COMPLETED,
    text: 'It is 3.',
    requests: 3,
    shown: /division by zero/,
    events: [...BEGIN, ...STEP, ...FAILED_CALL, ...STEP, ...CALL, ...STEP, ...END],
  },
};
