import { defineAgent } from 'reprise';
import { BEGIN, CALL, END } from '../events.js';
import { add, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A step that used more than was reserved for it. */
const OVER = ['llm_step.requested', 'usage.differs', 'llm_step.completed'] as const;

/** No more tokens. */
export const tokenLimit: Scenario = {
  name: 'token-limit',
  shows: 'A run that has used up its tokens ends and names the limit.',
  agents: [
    defineAgent({ name: 'talker', model: 'main', instructions: 'Talk.', tools: [add], limits: { tokens: 100 } }),
  ],
  says: [{ calls: [adds('a', 1, 1)], usage: { in: 90, out: 20 } }, { text: 'Never said.' }],
  ends: {
    stop: { kind: 'LimitsExceeded', limit: 'max_tokens' },
    text: '',
    requests: 1,
    events: [...BEGIN, ...OVER, 'budget.pressure', ...CALL, 'limit.reached', ...END],
  },
};
