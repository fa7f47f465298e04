import { BEGIN, COMPLETED, END, PERSON_ASKED, STEP } from '../events.js';
import { decide } from '../hands.js';
import { refunds, support } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A yes that lasts. */
export const rememberedApproval: Scenario = {
  name: 'remembered-approval',
  shows: 'An approval that is remembered for a day replaces the question during that day, and not afterwards.',
  agents: [support],
  says: [
    { calls: [refunds(500)] },
    { text: 'One.' },
    { calls: [refunds(500)] },
    { text: 'Two.' },
    { calls: [refunds(500)] },
    { text: 'Three.' },
  ],
  drive: async (stage) => {
    const first = await stage.say('Go.', 'go');
    const forADay = { approve: true, remember: { for: '1d' } } as const;
    await decide(stage, first, forADay, 'yes');
    stage.told((await first.result()).text);
    stage.told((await (await stage.say('Again.', 'again')).result()).text);
    await stage.clock.advance(2 * 86_400_000);
    const third = await stage.say('And again.', 'third');
    await decide(stage, third, { approve: true }, 'yes-3');
    return third;
  },
  ends: {
    stop: COMPLETED,
    text: 'Three.',
    requests: 6,
    told: ['One.', 'Two.'],
    events: [...BEGIN, ...STEP, ...PERSON_ASKED, 'human.resolved', 'lifecycle', 'tool.completed', ...STEP, ...END],
  },
};
