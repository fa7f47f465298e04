import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A message that arrives during the last answer. */
export const unreadSteer: Scenario = {
  name: 'unread-steer',
  shows: 'A steer that arrives during the last answer extends the run: the model answers it too.',
  agents: [adder],
  says: [{ text: 'Done.', held: true }, { text: 'Done again.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'llm_step.requested');
    await stage.session.steer('One thing more.', { id: 'steer' });
    stage.letGo();
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Done again.',
    requests: 2,
    shown: /One thing more/,
    events: [
      ...BEGIN,
      'llm_step.requested',
      'command.accepted',
      'llm_step.completed',
      'turn.started',
      'command.applied',
      ...STEP,
      ...END,
    ],
  },
};
