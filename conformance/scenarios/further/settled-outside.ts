import { BEGIN, COMPLETED, END, FAILED_CALL, STEP, WAIT } from '../events.js';
import { deferredEffect, outcomeOf } from '../hands.js';
import { buyer } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** An outside service settles a call. */
export const settledOutside: Scenario = {
  name: 'settled-outside',
  shows:
    'A call is settled from outside: the first outcome counts, repeating it changes nothing, and a different outcome is answered as too late.',
  agents: [buyer],
  says: [{ calls: [{ id: 'o', tool: 'order', args: {} }] }, { text: 'It came.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    const effect = await deferredEffect(stage, run);
    if (effect === undefined) return run;
    const came = await outcomeOf(stage, 'It is here.');
    const settle = async (outcome: typeof came, id: string) =>
      stage.told((await stage.world.settle(effect, outcome, { id })).status);
    await settle(came, 'hook');
    await run.result(); // what comes now has one place in the journal, behind all of the run
    await settle(came, 'hook');
    await settle({ status: 'error', code: 'adapter_error/lost' }, 'other');
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'It came.',
    requests: 2,
    shown: /It is here/,
    told: ['applied', 'applied', 'already_settled'],
    events: [...BEGIN, ...STEP, ...WAIT, 'tool.completed', 'lifecycle', ...STEP, ...END],
  },
  afterCrash: {
    because:
      'a call that may have been executed when the process died is not repeated, so the run ends before a person is asked',
    ends: [{ told: [], events: [...BEGIN, ...STEP, ...FAILED_CALL, ...STEP, ...END] }],
  },
};
