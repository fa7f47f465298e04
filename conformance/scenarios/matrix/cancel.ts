import { BEGIN, CANCELLED, END } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** The operator cancels a run while the model answers. */
export const cancel: Scenario = {
  name: 'cancel',
  shows: 'A run is canceled while its model answers: the received text is kept, and the run ends.',
  agents: [adder],
  says: [{ text: 'one two three four five six seven eight nine', slowly: true }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.speaking(run);
    await run.cancel();
    return run;
  },
  ends: {
    stop: CANCELLED,
    text: /^one/,
    requests: 1,
    events: [
      ...BEGIN,
      'llm_step.requested',
      'command.accepted',
      'lifecycle',
      'llm_step.completed',
      'command.applied',
      ...END,
    ],
  },
  afterCrash: {
    because: 'the received part of a canceled answer is lost with the process, and the request is not repeated',
    ends: [
      {
        text: '',
        events: [
          ...BEGIN,
          'llm_step.requested',
          'command.accepted',
          'lifecycle',
          'llm_step.failed',
          'command.applied',
          ...END,
        ],
      },
    ],
  },
};
