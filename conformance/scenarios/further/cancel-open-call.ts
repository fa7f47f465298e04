import { defineAgent, defineTool } from 'reprise';
import * as z from 'zod';
import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { OVER_BEFORE_CANCELLED } from '../hands.js';
import type { Scenario } from '../scenario.js';

const patient = defineTool({
  name: 'wait',
  description: 'Waits until it is told to stop.',
  args: z.strictObject({}),
  run: (_args, { signal }) =>
    new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
});
const waiter = defineAgent({ name: 'waiter', model: 'main', instructions: 'Wait.', tools: [patient] });

/** A call that is asked to stop. */
export const cancelOpenCall: Scenario = {
  name: 'cancel-open-call',
  shows: 'A run is canceled while a call runs: the call stops and has a result, which the model reads in the next run.',
  agents: [waiter],
  says: [{ calls: [{ id: 'w', tool: 'wait', args: {} }] }, { text: 'It was stopped.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'tool.requested');
    await stage.session.cancel({ id: 'stop' });
    stage.told((await run.result()).stop.kind);
    return stage.say('What happened?', 'after');
  },
  ends: {
    stop: COMPLETED,
    text: 'It was stopped.',
    requests: 2,
    shown: /This call was interrupted/,
    told: ['Cancelled'],
    events: [...BEGIN, ...STEP, ...END],
  },
  afterCrash: OVER_BEFORE_CANCELLED,
};
