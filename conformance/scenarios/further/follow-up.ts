import { COMPLETED, END, STEP } from '../events.js';
import { firstOf } from '../hands.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Words for later. */
export const followUp: Scenario = {
  name: 'follow-up',
  shows: 'A follow-up waits for the end of the run and becomes a separate run.',
  agents: [adder],
  says: [{ text: 'One.', held: true }, { text: 'Two.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    const receipt = await stage.session.followUp('And then?', { id: 'then' });
    stage.letGo();
    await run.result();
    return firstOf(await stage.session.run(receipt.status === 'accepted' ? (receipt.run ?? 0) : 0));
  },
  ends: {
    stop: COMPLETED,
    text: 'Two.',
    requests: 2,
    shown: /One\..*And then/,
    events: ['input.accepted', 'command.accepted', 'lifecycle', 'turn.started', 'command.applied', ...STEP, ...END],
  },
};
