import { BEGIN, CALL, COMPLETED, END, STEP } from '../events.js';
import { adder, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A rest. */
export const pause: Scenario = {
  name: 'pause',
  shows: 'A paused run begins nothing new until it is resumed.',
  agents: [adder],
  says: [{ calls: [adds('a', 1, 2)], held: true }, { text: 'Three.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'llm_step.requested');
    stage.told((await stage.session.pause({ id: 'pause' })).status);
    stage.letGo();
    await stage.until(run, 'llm_step.completed');
    stage.told((await stage.session.resume({ id: 'resume' })).status);
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Three.',
    requests: 2,
    told: ['accepted', 'accepted'],
    events: [
      ...BEGIN,
      'llm_step.requested',
      'lifecycle',
      'command.accepted',
      'command.applied',
      'llm_step.completed',
      'lifecycle',
      'command.accepted',
      'command.applied',
      ...CALL,
      ...STEP,
      ...END,
    ],
  },
};
