import { isRepriseError } from 'reprise';
import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** The same input twice. */
export const duplicateInput: Scenario = {
  name: 'duplicate-input',
  shows: 'An input sent again under the same id is the same run; with different content it is refused.',
  agents: [adder],
  says: [{ text: 'Once.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    stage.told((await stage.say('Go.', 'go')).id === run.id);
    await stage.say('Stop.', 'go').catch((error: unknown) => stage.told(isRepriseError(error) ? error.code : 'other'));
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Once.',
    requests: 1,
    told: [true, 'request_conflict'],
    events: [...BEGIN, ...STEP, ...END],
  },
};
