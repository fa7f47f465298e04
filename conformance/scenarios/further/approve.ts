import { askedAbout, BEGIN, COMPLETED, END, STEP, support } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Somebody says yes. */
export const approve: Scenario = {
  name: 'approve',
  shows: 'A call waits for a person; approved, it is made.',
  agents: [support],
  says: [{ calls: [{ id: 'r', tool: 'refund', args: { cents: 500 } }] }, { text: 'Refunded.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    const item = await askedAbout(run);
    stage.told((await stage.world.decide(item, { approve: true }, { as: 'human:ann', id: 'yes' })).status);
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Refunded.',
    requests: 2,
    shown: /refunded 500/,
    told: ['applied'],
    events: [
      ...BEGIN,
      ...STEP,
      'tool.requested',
      'human.requested',
      'tool.waiting',
      'lifecycle',
      'human.settled',
      'lifecycle',
      'tool.completed',
      ...STEP,
      ...END,
    ],
  },
  afterCrash: {
    because: 'who decides again, since the answer was not heard, is told that it was decided',
    told: [['already_settled']],
  },
};
