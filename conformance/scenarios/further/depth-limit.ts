import { defineAgent } from 'reprise';
import { BEGIN, COMPLETED, END, FAILED_CALL, STEP } from '../events.js';
import { LEAD, scout, spawned } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** No deeper. */
export const depthLimit: Scenario = {
  name: 'depth-limit',
  shows: 'A spawn beyond the maximum depth is refused as an error of the call; the run continues.',
  agents: [defineAgent({ name: 'lead', model: 'main', instructions: LEAD, spawns: [scout], limits: { depth: 0 } })],
  says: [
    { to: LEAD, calls: [spawned('s', 'Look.')] },
    { to: LEAD, text: 'I look myself.' },
  ],
  ends: {
    stop: COMPLETED,
    text: 'I look myself.',
    requests: 2,
    shown: /cap_denied\/depth/,
    events: [...BEGIN, ...STEP, ...FAILED_CALL, ...STEP, ...END],
  },
};
