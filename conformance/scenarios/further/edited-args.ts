import { BEGIN, COMPLETED, END, PERSON_ASKED, STEP } from '../events.js';
import { DECIDED_BEFORE, decide } from '../hands.js';
import { refunds, support } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A person approves a call with other arguments. */
export const editedArgs: Scenario = {
  name: 'edited-args',
  shows: 'A person approves a call with edited arguments: these are used, and the model is informed.',
  agents: [support],
  says: [{ calls: [refunds(500)] }, { text: 'Refunded a part.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    const decision = { approve: true, args: { cents: 200 }, comment: 'No more.' } as const;
    stage.told(await decide(stage, run, decision, 'yes'));
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Refunded a part.',
    requests: 2,
    shown: /refunded 200/,
    told: ['applied'],
    events: [...BEGIN, ...STEP, ...PERSON_ASKED, 'human.resolved', 'lifecycle', 'tool.completed', ...STEP, ...END],
  },
  afterCrash: DECIDED_BEFORE,
};
