import { defineAgent } from 'reprise';
import { BEGIN, CALL, COMPLETED, END, STEP } from '../events.js';
import { add, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** The operator raises a limit. */
export const raisedLimit: Scenario = {
  name: 'raised-limit',
  shows: 'A run that waits at a limit continues when the limit is raised.',
  agents: [
    defineAgent({
      name: 'asks',
      model: 'main',
      instructions: 'Step.',
      tools: [add],
      limits: { steps: 1, on: 'pause_and_ask' },
    }),
  ],
  says: [{ calls: [adds('a', 1, 1)] }, { text: 'Two.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'limit.reached');
    stage.told((await stage.session.reconfigure({ limits: { steps: 5 } }, { id: 'more' })).status);
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Two.',
    requests: 2,
    told: ['accepted'],
    events: [
      ...BEGIN,
      ...STEP,
      ...CALL,
      'limit.reached',
      'lifecycle',
      'config.changed',
      'lifecycle',
      'command.accepted',
      'command.applied',
      ...STEP,
      ...END,
    ],
  },
};
