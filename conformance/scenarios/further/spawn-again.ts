import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { LEAD, lead, SCOUT, scout } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A child that is requested twice. */
export const spawnAgain: Scenario = {
  name: 'spawn-again',
  shows: 'Spawning a child again under the same id gives the same child.',
  agents: [lead, scout],
  says: [
    { to: SCOUT, text: 'Found it.' },
    { to: LEAD, text: 'Ready.' },
  ],
  drive: async (stage) => {
    await (await stage.say('Go.', 'go')).result();
    const run = await stage.session.spawn(scout, 'Look.', { id: 'spawn' });
    stage.told((await stage.session.spawn(scout, 'Look.', { id: 'spawn' })).id === run.id);
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Found it.',
    requests: 2,
    told: [true],
    events: [...BEGIN, ...STEP, ...END],
  },
};
