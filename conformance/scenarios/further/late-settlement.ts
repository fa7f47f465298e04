import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { deferredEffect, OVER_BEFORE_CANCELLED, outcomeOf } from '../hands.js';
import { buyer } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** An outcome after the end. */
export const lateSettlement: Scenario = {
  name: 'late-settlement',
  shows: 'The outcome of a canceled call that arrives later is journaled and changes no decision.',
  agents: [buyer],
  says: [{ calls: [{ id: 'o', tool: 'order', args: {} }] }, { text: 'It came after all.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    const effect = await deferredEffect(stage, run);
    await stage.session.cancel({ id: 'stop' });
    stage.told((await run.result()).stop.kind);
    const came = await outcomeOf(stage, 'It is here.');
    if (effect !== undefined) stage.told((await stage.world.settle(effect, came, { id: 'hook' })).status);
    return stage.say('And?', 'and');
  },
  ends: {
    stop: COMPLETED,
    text: 'It came after all.',
    requests: 2,
    shown: /This call was interrupted/,
    told: ['Cancelled', 'already_settled'],
    events: [...BEGIN, ...STEP, ...END],
  },
  afterCrash: OVER_BEFORE_CANCELLED,
};
