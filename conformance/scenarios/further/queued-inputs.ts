import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Inputs that wait their turn. */
export const queuedInputs: Scenario = {
  name: 'queued-inputs',
  shows: 'Inputs sent during a run wait, and are answered in order of arrival.',
  agents: [adder],
  says: [{ text: 'One.', held: true }, { text: 'Two.' }, { text: 'Three.' }],
  drive: async (stage) => {
    const runs = [];
    for (const id of ['first', 'second', 'third']) runs.push(await stage.say(`The ${id}.`, id));
    stage.letGo();
    for (const run of runs) stage.told((await run.result()).text);
    return stage.say('The third.', 'third');
  },
  ends: {
    stop: COMPLETED,
    text: 'Three.',
    requests: 3,
    shown: /The first.*One\..*The second.*Two\..*The third/,
    told: ['One.', 'Two.', 'Three.'],
    events: [...BEGIN, ...STEP, ...END],
  },
};
