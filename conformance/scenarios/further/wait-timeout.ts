import { BEGIN, COMPLETED, END, SPAWN, STEP, WAIT } from '../events.js';
import { LEAD, lead, SCOUT, spawnsAndWaits } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A child that takes too long. */
export const waitTimeout: Scenario = {
  name: 'wait-timeout',
  shows: 'A parent whose wait times out continues without its child.',
  agents: [lead],
  says: [
    { to: SCOUT, text: 'Never said.', held: true },
    ...spawnsAndWaits({ max_seconds: 60 }),
    { to: LEAD, text: 'It takes too long.' },
  ],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'tool.waiting');
    await stage.clock.advance(60_000);
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'It takes too long.',
    requests: 4,
    open: 1,
    shown: /\(c1\): running.*\(c1\): running/,
    events: [...BEGIN, ...STEP, ...SPAWN, ...STEP, ...WAIT, 'tool.completed', 'lifecycle', ...STEP, ...END],
  },
};
