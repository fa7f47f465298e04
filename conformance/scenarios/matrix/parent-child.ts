import { BEGIN, CHILD_AWAITED, COMPLETED, END, SPAWN, STEP } from '../events.js';
import { LEAD, lead, SCOUT, spawnsAndWaits } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A child that its parent waits for. */
export const parentChild: Scenario = {
  name: 'parent-child',
  shows: 'A model spawns a child, waits for it and reads its result.',
  agents: [lead],
  says: [{ to: SCOUT, text: 'Found it.', held: true }, ...spawnsAndWaits(), { to: LEAD, text: 'The scout found it.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'tool.waiting');
    stage.letGo();
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'The scout found it.',
    requests: 4,
    events: [...BEGIN, ...STEP, ...SPAWN, ...STEP, ...CHILD_AWAITED, ...STEP, ...END],
    shown: /Found it\./,
  },
};
