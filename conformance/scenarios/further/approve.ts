import { BEGIN, COMPLETED, END, PERSON_ASKED, STEP } from '../events.js';
import { DECIDED_BEFORE, decide } from '../hands.js';
import { refunds, support } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A person approves a call. */
export const approve: Scenario = {
  name: 'approve',
  shows: 'A call waits for a person and is executed after the approval.',
  agents: [support],
  says: [{ calls: [refunds(500)] }, { text: 'Refunded.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    stage.told(await decide(stage, run, { approve: true }, 'yes'));
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Refunded.',
    requests: 2,
    shown: /refunded 500/,
    told: ['applied'],
    events: [...BEGIN, ...STEP, ...PERSON_ASKED, 'human.resolved', 'lifecycle', 'tool.completed', ...STEP, ...END],
  },
  afterCrash: DECIDED_BEFORE,
};
