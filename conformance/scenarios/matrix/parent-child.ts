import { defineAgent } from 'reprise';
import { BEGIN, END, STEP } from '../kit.js';
import type { Scenario } from '../scenario.js';

const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Scout.' });
const lead = defineAgent({ name: 'lead', model: 'main', instructions: 'Lead.', spawns: [scout] });

/** A child that its parent waits for. */
export const parentChild: Scenario = {
  name: 'parent-child',
  shows: 'A model spawns a child, waits for it, and reads what it came to.',
  agents: [lead],
  says: [
    { to: 'Scout.', text: 'Found it.', held: true },
    { to: 'Lead.', calls: [{ id: 's', tool: 'spawn_agent', args: { agent: 'scout', task: 'Look.' } }] },
    { to: 'Lead.', calls: [{ id: 'w', tool: 'wait_agents', args: { children: ['c1'] } }] },
    { to: 'Lead.', text: 'The scout found it.' },
  ],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'tool.waiting');
    stage.letGo();
    return run;
  },
  ends: {
    stop: { kind: 'Completed' },
    text: 'The scout found it.',
    requests: 4,
    events: [
      ...BEGIN,
      ...STEP,
      'tool.requested',
      'child.spawned',
      'tool.completed',
      ...STEP,
      'tool.requested',
      'tool.waiting',
      'lifecycle',
      'child.settled',
      'tool.completed',
      'lifecycle',
      ...STEP,
      ...END,
    ],
    shown: /Found it\./,
  },
};
