import { BEGIN, COMPLETED, END, PERSON_ASKED, STEP } from '../events.js';
import { DECIDED_BEFORE, decide } from '../hands.js';
import { refunds, support } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A person denies a call. */
export const deny: Scenario = {
  name: 'deny',
  shows: 'A call waits for a person who denies it: it is not executed, and the model reads why.',
  agents: [support],
  says: [{ calls: [refunds(500)] }, { text: 'Not this time.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    stage.told(await decide(stage, run, { deny: 'Too much.' }, 'no'));
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Not this time.',
    requests: 2,
    shown: /Too much/,
    told: ['applied'],
    events: [...BEGIN, ...STEP, ...PERSON_ASKED, 'human.resolved', 'tool.failed', 'lifecycle', ...STEP, ...END],
  },
  afterCrash: DECIDED_BEFORE,
};
