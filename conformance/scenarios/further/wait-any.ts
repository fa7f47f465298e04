import { defineAgent } from 'reprise';
import { BEGIN, CHILD_AWAITED, COMPLETED, END, SPAWN, STEP } from '../events.js';
import { LEAD, SCOUT, scout, spawned, waits } from '../kit.js';
import type { Scenario } from '../scenario.js';

const quick = defineAgent({ name: 'quick', model: 'main', instructions: 'Be quick.' });
const both = defineAgent({ name: 'lead', model: 'main', instructions: LEAD, spawns: [scout, quick] });

/** The first of two children. */
export const waitAny: Scenario = {
  name: 'wait-any',
  shows: 'A parent that waits for any child continues with the first result.',
  agents: [both],
  says: [
    { to: SCOUT, text: 'Found it at last.', held: true },
    { to: 'Be quick.', text: 'Found it at once.' },
    {
      to: LEAD,
      calls: [
        spawned('s', 'Look.'),
        { id: 'q', tool: 'spawn_agent', args: { agent: 'quick', task: 'Look.' } },
        waits('w', ['c1', 'c2'], { mode: 'any' }),
      ],
    },
    { to: LEAD, text: 'One found it.' },
  ],
  ends: {
    stop: COMPLETED,
    text: 'One found it.',
    requests: 4,
    open: 1,
    shown: /Found it at once/,
    events: [...BEGIN, ...STEP, ...SPAWN, ...SPAWN, ...CHILD_AWAITED, ...STEP, ...END],
  },
};
