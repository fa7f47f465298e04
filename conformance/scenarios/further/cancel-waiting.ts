import { BEGIN, CANCELLED, END, SPAWN, STEP, WAIT } from '../events.js';
import { lead, SCOUT, spawnsAndWaits } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A wait that is broken off. */
export const cancelWaiting: Scenario = {
  name: 'cancel-waiting',
  shows: 'A run that waits for a child is canceled: the wait ends at once.',
  agents: [lead],
  says: [{ to: SCOUT, text: 'Never said.', held: true }, ...spawnsAndWaits()],
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
      ...SPAWN,
      ...STEP,
      ...WAIT,
      'command.accepted',
      'lifecycle',
      'tool.failed',
      'command.applied',
      ...END,
    ],
  },
};
