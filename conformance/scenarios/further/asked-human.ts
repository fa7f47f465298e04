import { defineAgent } from 'reprise';
import { askHuman } from 'reprise/tools';
import { askedAbout, BEGIN, COMPLETED, END, STEP } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A question to a person. */
export const askedHuman: Scenario = {
  name: 'asked-human',
  shows: 'A model asks a person; its run waits for the answer and goes on with it.',
  agents: [defineAgent({ name: 'asker', model: 'main', instructions: 'Ask.', tools: [askHuman()] })],
  says: [{ calls: [{ id: 'q', tool: 'ask_human', args: { question: 'Which colour?' } }] }, { text: 'Blue it is.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    stage.told(
      (await stage.world.decide(await askedAbout(run), { answer: 'Blue.' }, { as: 'human:ann', id: 'answer' })).status,
    );
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Blue it is.',
    requests: 2,
    shown: /Blue\./,
    told: ['applied'],
    events: [
      ...BEGIN,
      ...STEP,
      'tool.requested',
      'human.requested',
      'tool.waiting',
      'lifecycle',
      'human.settled',
      'tool.completed',
      'lifecycle',
      ...STEP,
      ...END,
    ],
  },
  afterCrash: {
    because: 'who decides again, since the answer was not heard, is told that it was decided',
    told: [['already_settled']],
  },
};
