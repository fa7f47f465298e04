import { defineAgent, defineTool } from 'reprise';
import * as z from 'zod';
import { BEGIN, CALL, COMPLETED, END, STEP } from '../events.js';
import type { Scenario } from '../scenario.js';

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  args: z.strictObject({}),
  guarantee: 'idempotent',
  run: () => 'a tree',
});

/** A call that may be repeated. */
export const idempotentTool: Scenario = {
  name: 'idempotent-tool',
  shows: 'An idempotent call is executed again after a crash, without any report to the model.',
  agents: [defineAgent({ name: 'looker', model: 'main', instructions: 'Look.', tools: [look] })],
  says: [{ calls: [{ id: 'l', tool: 'look', args: {} }] }, { text: 'A tree.' }],
  ends: {
    stop: COMPLETED,
    text: 'A tree.',
    requests: 2,
    shown: /a tree/,
    events: [...BEGIN, ...STEP, ...CALL, ...STEP, ...END],
  },
};
