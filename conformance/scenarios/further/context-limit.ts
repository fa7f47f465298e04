import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { talker } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A conversation that is too long. */
export const contextLimit: Scenario = {
  name: 'context-limit',
  shows: 'The provider refuses a request as too long: a summary replaces the older part, and the step is repeated.',
  agents: [talker],
  says: [
    { text: 'One.' },
    { text: 'Two.' },
    { fails: { status: 400, message: 'prompt is too long' } },
    { text: 'They counted to two.' },
    { text: 'Three.' },
  ],
  drive: async (stage) => {
    for (const id of ['first', 'second']) await (await stage.say(`The ${id}.`, id)).result();
    return stage.say('The third.', 'third');
  },
  ends: {
    stop: COMPLETED,
    text: 'Three.',
    requests: 5,
    answered: 4,
    shown: /They counted to two/,
    events: [
      ...BEGIN,
      'llm_step.requested',
      'llm_step.failed',
      'compaction.started',
      'context.compacted',
      ...STEP,
      ...END,
    ],
  },
};
