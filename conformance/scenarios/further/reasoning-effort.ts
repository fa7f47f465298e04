import { BEGIN, CALL, COMPLETED, END, STEP } from '../events.js';
import { adder, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Settings that change between requests. */
export const reasoningEffort: Scenario = {
  name: 'reasoning-effort',
  shows: 'A changed model setting applies from the next request on.',
  agents: [adder],
  says: [{ calls: [adds('a', 1, 2)], held: true }, { text: 'Three.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.session.reconfigure({ options: { maxTokens: 4_321, reasoningEffort: 'high' } }, { id: 'effort' });
    stage.letGo();
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Three.',
    requests: 2,
    shown: /4321/,
    events: [
      ...BEGIN,
      'llm_step.requested',
      'config.changed',
      'command.accepted',
      'command.applied',
      'llm_step.completed',
      ...CALL,
      ...STEP,
      ...END,
    ],
  },
};
