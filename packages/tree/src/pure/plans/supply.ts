import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { treeAgents } from '../contracts/effects.js';

/** `tree/supply_plan@1`: obtains agents and texts from the part of the world, for a tree that a cell started. */
export const supplyPlan = planOnUse('tree/supply_plan@1', () =>
  definePlan({
    name: 'tree/supply_plan@1',
    input: z.strictObject({ memory: z.exactOptional(z.enum(['read', 'write'])) }),
    effects: [treeAgents],
    *run(input, plan) {
      const found = yield* plan.awaitReceipt(plan.emitEffect(treeAgents, input));
      const isOk = found.status === 'ok';
      const value = { supplies: isOk ? found.payload : null, code: isOk ? null : (found.code ?? found.status) };
      plan.raiseEvent({ name: 'tree/Supplied@1', value });
    },
  }),
);
