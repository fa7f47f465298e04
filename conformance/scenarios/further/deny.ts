import { askedAbout, BEGIN, COMPLETED, END, STEP, support } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Somebody says no. */
export const deny: Scenario = {
  name: 'deny',
  shows: 'A call waits for a person; denied, it does not happen, and the model reads why.',
  agents: [support],
  says: [{ calls: [{ id: 'r', tool: 'refund', args: { cents: 500 } }] }, { text: 'Not this time.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    const item = await askedAbout(run);
    stage.told((await stage.world.decide(item, { deny: 'Too much.' }, { as: 'human:ann', id: 'no' })).status);
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Not this time.',
    requests: 2,
    shown: /Too much/,
    told: ['applied'],
    events: [
      ...BEGIN,
      ...STEP,
      'tool.requested',
      'human.requested',
      'tool.waiting',
      'lifecycle',
      'host.accepted',
      'human.settled',
      'tool.failed',
      'lifecycle',
      ...STEP,
      ...END,
    ],
  },
  afterCrash: {
    because: 'who decides again, since the answer was not heard, is told that it was decided',
    told: [['already_settled']],
  },
};
