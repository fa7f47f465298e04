import { BEGIN, CALL, CHILD_AWAITED, COMPLETED, END, SPAWN, STEP } from '../events.js';
import { LEAD, lead, SCOUT, spawned, waits } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** More words to a child. */
export const sendInput: Scenario = {
  name: 'send-input',
  shows: 'A parent sends a second input to a child, which answers it too.',
  agents: [lead],
  says: [
    { to: SCOUT, text: 'Found one.' },
    { to: SCOUT, text: 'Found two.' },
    { to: LEAD, calls: [spawned('s', 'Look.'), waits('w', ['c1'])] },
    {
      to: LEAD,
      calls: [{ id: 'i', tool: 'send_input', args: { child: 'c1', text: 'And further?' } }, waits('v', ['c1'])],
    },
    { to: LEAD, text: 'Two in all.' },
  ],
  ends: {
    stop: COMPLETED,
    text: 'Two in all.',
    requests: 5,
    shown: /Found two/,
    events: [...BEGIN, ...STEP, ...SPAWN, ...CHILD_AWAITED, ...STEP, ...CALL, ...CHILD_AWAITED, ...STEP, ...END],
  },
};
