import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A session outlives its runs. */
export const secondRun: Scenario = {
  name: 'second-run',
  shows: 'A second run in the same session sees the conversation of the first.',
  agents: [adder],
  says: [{ text: 'One.' }, { text: 'Two.' }],
  drive: async (stage) => {
    await (await stage.say('First.', 'first')).result();
    return stage.say('Second.', 'second');
  },
  ends: {
    stop: COMPLETED,
    text: 'Two.',
    requests: 2,
    shown: /One\./,
    events: [...BEGIN, ...STEP, ...END],
  },
};
