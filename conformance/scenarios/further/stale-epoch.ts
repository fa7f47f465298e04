import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { answerOf } from '../hands.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A command for a moment that is over. */
export const staleEpoch: Scenario = {
  name: 'stale-epoch',
  shows: 'A command for an epoch other than the session’s is rejected and changes nothing.',
  agents: [adder],
  says: [{ text: 'One.' }, { text: 'Two.' }],
  drive: async (stage) => {
    await (await stage.say('First.', 'first')).result();
    const receipt = await stage.session.cancel({ scope: 'all', id: 'late', ifEpoch: 99 });
    stage.told(answerOf(receipt));
    return stage.say('Second.', 'second');
  },
  ends: {
    stop: COMPLETED,
    text: 'Two.',
    requests: 2,
    told: ['stale_epoch'],
    events: [...BEGIN, ...STEP, ...END],
  },
};
