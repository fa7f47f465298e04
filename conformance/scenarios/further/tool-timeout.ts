import { BEGIN, COMPLETED, END, FAILED_CALL, STEP } from '../events.js';
import { waiter } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A call that takes too long. */
export const toolTimeout: Scenario = {
  name: 'tool-timeout',
  shows: 'A call that does not answer in its time is given up, and the model is told.',
  agents: [waiter],
  says: [{ calls: [{ id: 'w', tool: 'wait', args: {} }] }, { text: 'It took too long.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'tool.requested');
    await stage.clock.advance(10_000);
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'It took too long.',
    requests: 2,
    shown: /outcome of this call is unknown \(adapter_timeout\)/,
    events: [...BEGIN, ...STEP, ...FAILED_CALL, ...STEP, ...END],
  },
  afterCrash: {
    because: 'of the call that was given up, and died with the process, it is told that nobody knows: after the fact',
    ends: [
      {
        events: [...BEGIN, ...STEP, ...FAILED_CALL, 'llm_step.requested', 'tool.late', 'llm_step.completed', ...END],
      },
    ],
  },
};
