import { BEGIN, COMPLETED, END, PERSON_ASKED, STEP } from '../events.js';
import { askedAbout, leaveRights } from '../hands.js';
import { refunds, support } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A right that is taken away. */
export const revokedWhileWaiting: Scenario = {
  name: 'revoked-while-waiting',
  shows:
    'The right of a call is revoked while it waits for a person: the call ends at once, and the model is informed.',
  agents: [support],
  says: [{ calls: [refunds(500)] }, { text: 'I may not any more.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await askedAbout(run);
    await leaveRights(stage, { effect: ['llm.generate@2'] });
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'I may not any more.',
    requests: 2,
    shown: /did not happen \(cap_denied\/revoked\)/,
    events: [...BEGIN, ...STEP, ...PERSON_ASKED, 'human.resolved', 'tool.failed', 'lifecycle', ...STEP, ...END],
  },
};
