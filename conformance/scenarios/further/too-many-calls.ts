import { defineAgent } from 'reprise';
import { BEGIN, END, STEP } from '../events.js';
import { add, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** More calls than one answer may have. */
export const tooManyCalls: Scenario = {
  name: 'too-many-calls',
  shows: 'An answer with more calls than the limit ends the run; none of the calls is executed.',
  agents: [
    defineAgent({ name: 'greedy', model: 'main', instructions: 'Add.', tools: [add], limits: { callsPerStep: 1 } }),
  ],
  says: [{ calls: [adds('a', 1, 2), adds('b', 3, 4)] }],
  ends: {
    stop: { kind: 'LimitsExceeded', limit: 'max_tool_calls_per_step' },
    text: '',
    requests: 1,
    events: [...BEGIN, ...STEP, 'tool.failed', 'tool.failed', 'limit.reached', ...END],
  },
};
