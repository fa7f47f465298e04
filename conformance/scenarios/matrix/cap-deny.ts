import { BEGIN, COMPLETED, DENIED_CALL, END, STEP } from '../events.js';
import { adder, adds } from '../kit.js';
import { type Scenario, SESSION } from '../scenario.js';

/** The session may not use the tool. */
export const capDeny: Scenario = {
  name: 'cap-deny',
  shows: 'The session lacks the right to the call: it is not executed, and the model reads why.',
  agents: [adder],
  says: [{ calls: [adds('a', 2, 3)] }, { text: 'I cannot.' }],
  drive: async (stage) => {
    const exercise = { may: { effect: ['llm.generate@2'] } };
    const holder = `cell:aos.agent/SessionReducer@1/${SESSION}` as const;
    await stage.world.kernel.command('sys/SetRights@1', { holder, exercise }, { id: 'rights' });
    return stage.say('Go.', 'go');
  },
  ends: {
    stop: COMPLETED,
    text: 'I cannot.',
    requests: 2,
    events: [...BEGIN, ...STEP, ...DENIED_CALL, ...STEP, ...END],
    shown: /refused and did not happen \(cap_denied\)/,
  },
};
