import { defineAgent, defineTool } from 'reprise';
import * as z from 'zod';
import { BEGIN, CALL, COMPLETED, END, STEP } from '../events.js';
import type { Scenario } from '../scenario.js';

const book = defineTool({
  name: 'book',
  description: 'Books.',
  args: z.strictObject({}),
  guarantee: 'reconcile',
  run: () => 'booked',
  // Asked only after a crash. Where the call did not happen, the outside of the crash mode says so in its place.
  reconcile: () => ({ done: 'booked' }),
});

/** A call that can be looked up. */
export const reconciledTool: Scenario = {
  name: 'reconciled-tool',
  shows: 'A call whose tool can check whether it was executed is repeated only if it was not.',
  agents: [defineAgent({ name: 'booker', model: 'main', instructions: 'Book.', tools: [book] })],
  says: [{ calls: [{ id: 'b', tool: 'book', args: {} }] }, { text: 'Booked.' }],
  ends: {
    stop: COMPLETED,
    text: 'Booked.',
    requests: 2,
    shown: /booked/,
    events: [...BEGIN, ...STEP, ...CALL, ...STEP, ...END],
  },
};
