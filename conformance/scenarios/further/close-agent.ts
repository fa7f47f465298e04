import { BEGIN, COMPLETED, END, SPAWN, STEP } from '../events.js';
import { LEAD, lead, SCOUT, spawned } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A child that is not needed any more. */
export const closeAgent: Scenario = {
  name: 'close-agent',
  shows: 'A parent closes a working child: the child is canceled.',
  agents: [lead],
  says: [
    { to: SCOUT, text: 'Never said.', held: true },
    { to: LEAD, calls: [spawned('s', 'Look.')] },
    { to: LEAD, calls: [{ id: 'c', tool: 'close_agent', args: { child: 'c1' } }] },
    { to: LEAD, text: 'Never mind.' },
  ],
  ends: {
    stop: COMPLETED,
    text: 'Never mind.',
    requests: 4,
    shown: /\(c1\): closed/,
    events: [
      ...BEGIN,
      ...STEP,
      ...SPAWN,
      ...STEP,
      'tool.requested',
      'child.changed',
      'tool.completed',
      ...STEP,
      ...END,
    ],
  },
};
