import { defineAgent, defineTool } from 'reprise';
import * as z from 'zod';
import { BEGIN, COMPLETED, END, FAILED_CALL, STEP } from '../events.js';
import type { Scenario } from '../scenario.js';

const list = defineTool({
  name: 'list',
  description: 'Lists everything.',
  args: z.strictObject({}),
  run: () => 'one line of many\n'.repeat(20_000),
});

/** More than a model reads. */
export const boundedOutput: Scenario = {
  name: 'bounded-output',
  shows:
    'The output of a tool is larger than the model reads: the full output is stored, and the model reads its beginning and end.',
  agents: [defineAgent({ name: 'lister', model: 'main', instructions: 'List.', tools: [list] })],
  says: [{ calls: [{ id: 'a', tool: 'list', args: {} }] }, { text: 'Many lines.' }],
  ends: {
    stop: COMPLETED,
    text: 'Many lines.',
    requests: 2,
    events: [...BEGIN, ...STEP, 'tool.requested', 'tool.bounded', 'tool.completed', ...STEP, ...END],
    shown: /truncated \d+ bytes; sha256:/,
  },
  afterCrash: {
    because: 'a call whose execution is unknown has no output to truncate',
    ends: [{ events: [...BEGIN, ...STEP, ...FAILED_CALL, ...STEP, ...END] }],
  },
};
