import { BEGIN, COMPLETED, END, SPAWN, STEP, WAIT } from '../events.js';
import { LEAD, lead, SCOUT, spawned, waits } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Two children at once. */
export const twoChildren: Scenario = {
  name: 'two-children',
  shows: 'A parent waits for all its children and reads the result of each.',
  agents: [lead],
  says: [
    { to: SCOUT, text: 'Found it.' },
    { to: LEAD, calls: [spawned('s', 'Look left.'), spawned('t', 'Look right.'), waits('w', ['c1', 'c2'])] },
    { to: LEAD, text: 'Both found it.' },
  ],
  ends: {
    stop: COMPLETED,
    text: 'Both found it.',
    requests: 4,
    shown: /agent c1, completed.*agent c2, completed/,
    events: [
      ...BEGIN,
      ...STEP,
      ...SPAWN,
      ...SPAWN,
      ...WAIT,
      'child.ended',
      'child.ended',
      'tool.completed',
      'lifecycle',
      ...STEP,
      ...END,
    ],
  },
};
