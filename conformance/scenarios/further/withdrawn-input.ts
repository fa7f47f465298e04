import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** An input that is taken back before its turn. */
export const withdrawnInput: Scenario = {
  name: 'withdrawn-input',
  shows: 'A waiting input is withdrawn: it is never answered, and the inputs behind it are.',
  agents: [adder],
  says: [{ text: 'One.', held: true }, { text: 'Three.' }],
  drive: async (stage) => {
    for (const id of ['first', 'second']) await stage.say(`The ${id}.`, id);
    stage.told((await stage.session.withdraw('second', { id: 'back' })).status);
    const third = await stage.say('The third.', 'third');
    stage.letGo();
    return third;
  },
  ends: {
    stop: COMPLETED,
    text: 'Three.',
    requests: 2,
    shown: /^(?!.*The second).*One\..*The third/,
    told: ['accepted'],
    events: [...BEGIN, ...STEP, ...END],
  },
};
