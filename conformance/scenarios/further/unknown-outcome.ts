import { defineAgent, defineTool, outcomeUnknown } from 'reprise';
import * as z from 'zod';
import { BEGIN, COMPLETED, END, FAILED_CALL, STEP } from '../events.js';
import type { Scenario } from '../scenario.js';

const pay = defineTool({ name: 'pay', description: 'Pays.', args: z.strictObject({}), run: () => outcomeUnknown() });

/** A call whose answer was lost. */
export const unknownOutcome: Scenario = {
  name: 'unknown-outcome',
  shows: 'A handler reports that the outcome of its call is unknown, and the model reads that.',
  agents: [defineAgent({ name: 'payer', model: 'main', instructions: 'Pay.', tools: [pay] })],
  says: [{ calls: [{ id: 'p', tool: 'pay', args: {} }] }, { text: 'Nobody knows.' }],
  ends: {
    stop: COMPLETED,
    text: 'Nobody knows.',
    requests: 2,
    shown: /outcome of this call is unknown/,
    events: [...BEGIN, ...STEP, ...FAILED_CALL, ...STEP, ...END],
  },
};
