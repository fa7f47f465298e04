import { BEGIN, COMPLETED, END, FAILED_CALL, STEP } from '../events.js';
import { waiter } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A call that takes too long. */
export const toolTimeout: Scenario = {
  name: 'tool-timeout',
  shows: 'A call that does not answer before its timeout is given up, and the model is informed.',
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
    because: 'the call that was given up died with the process, and is later reported as unknown',
    ends: [
      {
        events: [...BEGIN, ...STEP, ...FAILED_CALL, 'llm_step.requested', 'tool.late', 'llm_step.completed', ...END],
      },
    ],
  },
};
