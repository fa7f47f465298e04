import { defineAgent } from 'reprise';
import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { add, adder, adds } from '../kit.js';
import { type Scenario, SESSION } from '../scenario.js';

/** The {@link adder} with other instructions. */
const summer = defineAgent({ name: 'adder', model: 'main', instructions: 'Sum.', tools: [add] });

/** An agent that is defined anew while it works. */
export const changedDefinition: Scenario = {
  name: 'changed-definition',
  shows: 'A run continues with the definition that it started with; the next run uses the new definition.',
  agents: [adder],
  says: [
    { to: 'Add.', calls: [adds('a', 1, 2)], held: true },
    { to: 'Add.', text: 'Three.' },
    { to: 'Sum.', text: 'A sum.' },
  ],
  drive: async (stage) => {
    // Said again after a crash, it would bring the old definition back.
    const run = (await stage.session.run(0)) ?? (await stage.say('Go.', 'go'));
    await stage.world.define(summer);
    const next = await stage.world.session(SESSION, summer).send('Again.', { id: 'again' });
    stage.letGo();
    stage.told((await run.result()).text);
    return next;
  },
  ends: {
    stop: COMPLETED,
    text: 'A sum.',
    requests: 3,
    shown: /^(?!.*Add\.).*Sum\./,
    told: ['Three.'],
    events: [...BEGIN, ...STEP, ...END],
  },
};
