import { defineAgent } from 'reprise';
import { BEGIN, CHILD_AWAITED, COMPLETED, END, SPAWN, STEP } from '../events.js';
import { leaveRights } from '../hands.js';
import { add, adds, LEAD, waits } from '../kit.js';
import type { Scenario } from '../scenario.js';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [add] });
const boss = defineAgent({ name: 'boss', model: 'main', instructions: LEAD, spawns: [worker] });

/** A child may no more than its parent. */
export const childRights: Scenario = {
  name: 'child-rights',
  shows: 'A child does not have a right that its parent lacks, whatever tools it has.',
  agents: [boss],
  says: [
    { to: 'Work.', calls: [adds('a', 1, 2)] },
    { to: 'Work.', text: 'I may not add.' },
    {
      to: LEAD,
      calls: [{ id: 's', tool: 'spawn_agent', args: { agent: 'worker', task: 'Add.' } }, waits('w', ['c1'])],
    },
    { to: LEAD, text: 'It may not.' },
  ],
  drive: async (stage) => {
    await leaveRights(stage, { effect: ['llm.generate@2'], event: ['*'] });
    return stage.say('Go.', 'go');
  },
  ends: {
    stop: COMPLETED,
    text: 'It may not.',
    requests: 4,
    shown: /I may not add/,
    events: [...BEGIN, ...STEP, ...SPAWN, ...CHILD_AWAITED, ...STEP, ...END],
  },
};
