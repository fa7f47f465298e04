import { BEGIN, COMPLETED, END, SPAWN, STEP } from '../events.js';
import { LEAD, lead, SCOUT, spawned } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** An answer before its children’s. */
export const earlyAnswer: Scenario = {
  name: 'early-answer',
  shows: 'A parent answers without waiting and its run completes; the child continues to work.',
  agents: [lead],
  says: [
    { to: SCOUT, text: 'Too late.', held: true },
    { to: LEAD, calls: [spawned('s', 'Look.')] },
    { to: LEAD, text: 'I guess.' },
  ],
  ends: {
    stop: COMPLETED,
    text: 'I guess.',
    requests: 3,
    open: 1,
    shown: /\(c1\): running/,
    shownTo: LEAD,
    events: [...BEGIN, ...STEP, ...SPAWN, ...STEP, ...END],
  },
};
