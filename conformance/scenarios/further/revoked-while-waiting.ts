import { askedAbout, BEGIN, COMPLETED, END, STEP, support } from '../kit.js';
import { type Scenario, SESSION } from '../scenario.js';

/** A right that is taken away. */
export const revokedWhileWaiting: Scenario = {
  name: 'revoked-while-waiting',
  shows: 'A call waits for a person when its right is taken away: it ends in that very moment, and the model is told.',
  agents: [support],
  says: [{ calls: [{ id: 'r', tool: 'refund', args: { cents: 500 } }] }, { text: 'I may not any more.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await askedAbout(run);
    const holder = `cell:aos.agent/SessionReducer@1/${SESSION}` as const;
    const exercise = { may: { effect: ['llm.generate@2'] } };
    await stage.world.kernel.command('sys/SetRights@1', { holder, exercise }, { id: 'rights' });
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'I may not any more.',
    requests: 2,
    events: [
      ...BEGIN,
      ...STEP,
      'tool.requested',
      'human.requested',
      'tool.waiting',
      'lifecycle',
      'human.settled',
      'tool.failed',
      'lifecycle',
      ...STEP,
      ...END,
    ],
  },
};
