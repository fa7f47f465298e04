import { defineAgent } from 'reprise';
import { askHuman } from 'reprise/tools';
import { BEGIN, COMPLETED, END, PERSON_ASKED, STEP } from '../events.js';
import { DECIDED_BEFORE, decide } from '../hands.js';
import type { Scenario } from '../scenario.js';

/** A question to a person. */
export const askedHuman: Scenario = {
  name: 'asked-human',
  shows: 'A model asks a person; the run waits for the answer and continues with it.',
  agents: [defineAgent({ name: 'asker', model: 'main', instructions: 'Ask.', tools: [askHuman()] })],
  says: [{ calls: [{ id: 'q', tool: 'ask_human', args: { question: 'Which colour?' } }] }, { text: 'Blue it is.' }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    stage.told(await decide(stage, run, { answer: 'Blue.' }, 'answer'));
    return run;
  },
  ends: {
    stop: COMPLETED,
    text: 'Blue it is.',
    requests: 2,
    shown: /Blue\./,
    told: ['applied'],
    events: [...BEGIN, ...STEP, ...PERSON_ASKED, 'human.resolved', 'tool.completed', 'lifecycle', ...STEP, ...END],
  },
  afterCrash: DECIDED_BEFORE,
};
