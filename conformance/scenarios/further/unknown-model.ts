import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { answerOf } from '../hands.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A model that the world does not have. */
export const unknownModel: Scenario = {
  name: 'unknown-model',
  shows: 'A change to a model that the world does not have is rejected; the session continues unchanged.',
  agents: [adder],
  says: [{ text: 'One.' }, { text: 'Two.' }],
  drive: async (stage) => {
    await (await stage.say('First.', 'first')).result();
    const receipt = await stage.session.reconfigure({ model: 'nobody' }, { id: 'model' });
    stage.told(answerOf(receipt));
    return stage.say('Second.', 'second');
  },
  ends: {
    stop: COMPLETED,
    text: 'Two.',
    requests: 2,
    told: ['unknown_model'],
    events: [...BEGIN, ...STEP, ...END],
  },
};
