import { BEGIN, CHILD_AWAITED, COMPLETED, END, SPAWN, STEP } from '../events.js';
import { LEAD, lead, SCOUT, spawned, waits } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A child that fails. */
export const childFails: Scenario = {
  name: 'child-fails',
  shows: 'A child whose provider is down fails; its parent is informed and continues.',
  agents: [lead],
  says: [
    { to: SCOUT, fails: { status: 400, message: 'No.' } },
    { to: LEAD, calls: [spawned('s', 'Look.'), waits('w', ['c1'])] },
    { to: LEAD, text: 'The scout failed.' },
  ],
  ends: {
    stop: COMPLETED,
    text: 'The scout failed.',
    requests: 3,
    answered: 2,
    shown: /\(c1\): failed \(provider_error_terminal/,
    events: [...BEGIN, ...STEP, ...SPAWN, ...CHILD_AWAITED, ...STEP, ...END],
  },
};
