/** `society/keygen_plan@1`: makes the key pair of an agent, and tells the entity that registers it. */

import * as z from '@reprise/contracts/schema';
import { planOf } from '@reprise/org/contracts';
import { identityKeygen } from '../contracts/index.js';
import { codeOf } from './receipt.js';

/**
 * How often a key is made anew when the outcome of an attempt is unknown: the vault destroys keys without an agent. Each
 * death of the process during an attempt is one, so the bound is far above the deaths that a registration meets.
 */
const ATTEMPTS = 32;

/** `society/keygen_plan@1`: has a key pair made for a new agent. */
export const keygenPlan = planOf('society/keygen_plan@1', () => ({
  input: z.strictObject({ call: z.string().max(64), parent: z.string().max(128) }),
  effects: [identityKeygen],
  *run({ call, parent }, plan) {
    for (let attempt = 1; ; attempt++) {
      const made = yield* plan.awaitReceipt(plan.emitEffect(identityKeygen, { parent, attempt }));
      if (made.status === 'outcome_unknown' && attempt < ATTEMPTS) continue;
      const value = made.status === 'ok' ? made.payload : null;
      return plan.raiseEvent({ name: 'society/Keyed@1', value: { call, code: codeOf(made), value } });
    }
  },
}));
