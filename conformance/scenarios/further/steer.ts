import { BEGIN, CALL, COMPLETED, END, STEP } from '../events.js';
import { adder, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Words on the way. */
export const steer: Scenario = {
  name: 'steer',
  shows: 'The model reads a steer at the next step of the run.',
  agents: [adder],
  says: [{ calls: [adds('a', 1, 2)], held: true }, { text: 'Minus three.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'llm_step.requested');
    stage.told((await stage.session.steer('Mind the sign.', { id: 'steer' })).status);
    stage.letGo();
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Minus three.',
    requests: 2,
    shown: /Mind the sign/,
    told: ['accepted'],
    events: [
      ...BEGIN,
      'llm_step.requested',
      'command.accepted',
      'llm_step.completed',
      ...CALL,
      'turn.started',
      'command.applied',
      ...STEP,
      ...END,
    ],
  },
};
