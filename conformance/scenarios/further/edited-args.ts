import { defineAgent, defineTool } from 'reprise';
import * as z from 'zod';
import { askedAbout, BEGIN, COMPLETED, END, STEP } from '../kit.js';
import type { Scenario } from '../scenario.js';

const refund = defineTool({
  name: 'refund',
  description: 'Refunds.',
  args: z.strictObject({ cents: z.int() }),
  approval: 'always',
  run: ({ cents }) => `refunded ${cents}`,
});
const support = defineAgent({ name: 'support', model: 'main', instructions: 'Help.', tools: [refund] });

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
