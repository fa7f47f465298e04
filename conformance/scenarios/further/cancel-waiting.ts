import { BEGIN, CANCELLED, END, LEAD, lead, SCOUT, STEP, spawned, waits } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A wait that is broken off. */
export const cancelWaiting: Scenario = {
  name: 'cancel-waiting',
  shows: 'A run that waits for a child is cancelled: the wait ends at once.',
  agents: [lead],
  says: [
    { to: SCOUT, text: 'Never said.', held: true },
    { to: LEAD, calls: [spawned('s', 'Look.')] },
    { to: LEAD, calls: [waits('w', ['c1'])] },
  ],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'tool.waiting');
    await stage.session.cancel({ id: 'stop' });
    return run;
  },
  ends: {
    stop: CANCELLED,
    text: '',
    requests: 3,
    events: [
      ...BEGIN,
      ...STEP,
      'tool.requested',
      'child.spawned',
      'tool.completed',
      ...STEP,
      'tool.requested',
      'tool.waiting',
      'lifecycle',
      'host.accepted',
      'lifecycle',
      'tool.failed',
      'host.applied',
      ...END,
    ],
  },
};
