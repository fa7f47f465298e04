import { isRepriseError } from 'reprise';
import { BEGIN, CANCELLED, END, SPAWN, STEP, WAIT } from '../events.js';
import { lead, SCOUT, spawnsAndWaits } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** The end of a session. */
export const close: Scenario = {
  name: 'close',
  shows: 'A session is closed while a child works: everything below it is canceled, and it accepts nothing more.',
  agents: [lead],
  says: [{ to: SCOUT, text: 'Never said.', held: true }, ...spawnsAndWaits()],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'tool.waiting');
    stage.told((await stage.session.close({ id: 'close' })).status);
    await run.result();
    await stage
      .say('More?', 'more')
      .catch((error: unknown) => stage.told(isRepriseError(error) ? String(error.details.reason) : 'other'));
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
      ...SPAWN,
      ...STEP,
      ...WAIT,
      'child.changed',
      'command.accepted',
      'lifecycle',
      'tool.failed',
      'command.applied',
      ...END,
    ],
  },
};
