import { BEGIN, CALL, COMPLETED, END, STEP } from '../events.js';
import { adder, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Two calls of one answer. */
export const multiTool: Scenario = {
  name: 'multi-tool',
  shows:
    'A model calls two tools in one answer that also has text; the calls run concurrently, and their results are sent in the order of the calls.',
  agents: [adder],
  says: [{ text: 'I add.', calls: [adds('a', 1, 2), adds('b', 3, 4)] }, { text: '3 and 7.' }],
  ends: {
    stop: COMPLETED,
    text: '3 and 7.',
    requests: 2,
    events: [...BEGIN, ...STEP, 'tool.requested', ...CALL, 'tool.completed', ...STEP, ...END],
    shown: /"3".*"7"/,
  },
};
