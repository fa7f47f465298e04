import { BEGIN, CHILD_AWAITED, END, LEAD, lead, SCOUT, STEP, spawned, waits } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A child that its parent waits for. */
export const parentChild: Scenario = {
  name: 'parent-child',
  shows: 'A model spawns a child, waits for it, and reads what it came to.',
  agents: [lead],
  says: [
    { to: SCOUT, text: 'Found it.', held: true },
    { to: LEAD, calls: [spawned('s', 'Look.')] },
    { to: LEAD, calls: [waits('w', ['c1'])] },
    { to: LEAD, text: 'The scout found it.' },
  ],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'tool.waiting');
    stage.letGo();
    return run;
  },
  ends: {
    stop: { kind: 'Completed' },
    text: 'The scout found it.',
    requests: 4,
    events: [
      ...BEGIN,
      ...STEP,
      'tool.requested',
      'child.spawned',
      'tool.completed',
      ...STEP,
      ...CHILD_AWAITED,
      ...STEP,
      ...END,
    ],
    shown: /Found it\./,
  },
};
