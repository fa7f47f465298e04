import { askedAbout, BEGIN, COMPLETED, END, STEP, support } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Somebody says yes, but. */
export const editedArgs: Scenario = {
  name: 'edited-args',
  shows: 'A person approves other arguments than the model gave: those are used, and the model is told.',
  agents: [support],
  says: [{ calls: [{ id: 'r', tool: 'refund', args: { cents: 500 } }] }, { text: 'Refunded a part.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    const decision = { approve: true, args: { cents: 200 }, comment: 'No more.' } as const;
    stage.told((await stage.world.decide(await askedAbout(run), decision, { as: 'human:ann', id: 'yes' })).status);
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Refunded a part.',
    requests: 2,
    shown: /refunded 200/,
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
