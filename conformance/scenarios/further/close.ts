import { isRepriseError } from 'reprise';
import { BEGIN, CANCELLED, END, LEAD, lead, SCOUT, STEP, spawned, waits } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** The end of a session. */
export const close: Scenario = {
  name: 'close',
  shows: 'A session is closed while a child works: everything under it is cancelled, and it takes nothing any more.',
  agents: [lead],
  says: [
    { to: SCOUT, text: 'Never said.', held: true },
    { to: LEAD, calls: [spawned('s', 'Look.')] },
    { to: LEAD, calls: [waits('w', ['c1'])] },
  ],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'tool.waiting');
    stage.told((await stage.session.close({ id: 'close' })).status);
    await run.result();
    await stage
      .say('More?', 'more')
      .catch((error: unknown) => stage.told(isRepriseError(error) ? String(error.facts.reason) : 'other'));
    return run;
  },
  ends: {
    stop: CANCELLED,
    text: '',
    requests: 3,
    told: ['accepted', 'session_closed'],
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
      'child.changed',
      'host.accepted',
      'lifecycle',
      'tool.failed',
      'host.applied',
      ...END,
    ],
  },
};
