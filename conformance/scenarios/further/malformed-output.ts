import { defineAgent, defineTool } from 'reprise';
import * as z from 'zod';
import { BEGIN, CALL, COMPLETED, END, STEP } from '../events.js';
import type { Scenario } from '../scenario.js';

const count = defineTool({
  name: 'count',
  description: 'Counts.',
  args: z.strictObject({}),
  output: z.int(),
  run: () => 'many' as unknown as number,
});

/** A tool whose answer does not fit its schema. */
export const malformedOutput: Scenario = {
  name: 'malformed-output',
  shows: 'When an answer does not fit the schema of its tool, the call is reported as executed, with its result lost.',
  agents: [defineAgent({ name: 'counter', model: 'main', instructions: 'Count.', tools: [count] })],
  says: [{ calls: [{ id: 'a', tool: 'count', args: {} }] }, { text: 'I cannot count.' }],
  ends: {
    stop: COMPLETED,
    text: 'I cannot count.',
    requests: 2,
    shown: /^(?!.*many).*result could not be kept: it does not fit/,
    events: [...BEGIN, ...STEP, ...CALL, ...STEP, ...END],
  },
};
