/** The plan of jobs: has the request prepared, once for each attempt. */
import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { workPrepare, workPrepareParams } from './contracts.js';

/** `work/prepare_plan@1`: has a request prepared. */
export const preparePlan = planOnUse('work/prepare_plan@1', () =>
  definePlan({
    name: 'work/prepare_plan@1',
    input: z.strictObject({ attempt: z.int().min(1), request: workPrepareParams }),
    effects: [workPrepare],
    *run({ attempt, request }, plan) {
      const prepared = yield* plan.awaitReceipt(plan.emitEffect(workPrepare, request));
      if (prepared.status === 'ok') {
        plan.raiseEvent({ name: 'work/Prepared@1', value: { attempt, ...prepared.payload } });
      } else {
        const code = prepared.code ?? prepared.status;
        plan.raiseEvent({ name: 'work/NotPrepared@1', value: { attempt, code } });
      }
    },
  }),
);
