import { AGENT_POLICY } from 'reprise';
import { BEGIN, COMPLETED, DENIED_CALL, END, STEP } from '../events.js';
import { adder, adds } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A rule of the world forbids the tool. */
export const policyDeny: Scenario = {
  name: 'policy-deny',
  shows: 'A policy rule forbids the call: it is not executed, and the model reads why.',
  agents: [adder],
  policy: [{ effect: 'tool.call@1#add', decision: 'deny' }, ...AGENT_POLICY],
  says: [{ calls: [adds('a', 2, 3)] }, { text: 'I may not.' }],
  ends: {
    stop: COMPLETED,
    text: 'I may not.',
    requests: 2,
    events: [...BEGIN, ...STEP, ...DENIED_CALL, ...STEP, ...END],
    shown: /refused and did not happen \(policy_denied\)/,
  },
};
