import { BEGIN, COMPLETED, END, FAILED_CALL, STEP } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A tool that there is not. */
export const unknownTool: Scenario = {
  name: 'unknown-tool',
  shows: 'When the model calls a tool that the agent does not have, the model is informed.',
  agents: [adder],
  says: [{ calls: [{ id: 'a', tool: 'subtract', args: {} }] }, { text: 'I can only add.' }],
  ends: {
    stop: COMPLETED,
    text: 'I can only add.',
    requests: 2,
    shown: /There is no tool subtract/,
    events: [...BEGIN, ...STEP, ...FAILED_CALL, ...STEP, ...END],
  },
};
