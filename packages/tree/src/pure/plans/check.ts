import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { treeNews } from '../contracts/commands.js';
import { treeCheck, treeCheckParams } from '../contracts/effects.js';

const { n, launch, call } = treeNews['tree/Checked@1'].shape;

/** `tree/check_plan@1`: has a result checked, and raises the verdict. */
export const checkPlan = planOnUse('tree/check_plan@1', () =>
  definePlan({
    name: 'tree/check_plan@1',
    input: z.strictObject({ n, launch, call, check: treeCheckParams }),
    effects: [treeCheck],
    *run({ n, launch, call, check }, plan) {
      const found = yield* plan.awaitReceipt(plan.emitEffect(treeCheck, check));
      const payload = found.status === 'ok' ? found.payload : undefined;
      const value = {
        n,
        launch,
        call,
        given: payload !== undefined && 'given' in payload ? payload.given : null,
        problems_ref: payload !== undefined && 'problems_ref' in payload ? payload.problems_ref : null,
        code: payload === undefined ? (found.code ?? found.status) : null,
      };
      plan.raiseEvent({ name: 'tree/Checked@1', value });
    },
  }),
);
