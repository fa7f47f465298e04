import { humanAsk } from '@reprise/agent/contracts';
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { nodeNumber } from '../contracts/node.js';
import { settledBy } from './settled-by.js';

/** `tree/people_plan@1`: asks people. The tree itself keeps the deadline, and cancels the plan. */
export const peoplePlan = planOnUse('tree/people_plan@1', () =>
  definePlan({
    name: 'tree/people_plan@1',
    input: z.strictObject({
      ask: nodeNumber,
      question_ref: ref(),
      session: z.strictObject({
        key: z.string().min(1).max(256),
        labels: z.record(z.string().max(64), z.string().max(256)),
      }),
    }),
    effects: [humanAsk],
    *run({ ask, question_ref, session }, plan) {
      const told = yield* plan.awaitReceipt(plan.emitEffect(humanAsk, { question_ref, session }));
      const isOk = told.status === 'ok';
      const text_ref = isOk ? told.payload.text_ref : null;
      const by = isOk ? settledBy(told) : null;
      plan.raiseEvent({ name: 'tree/PeopleAnswered@1', value: { ask, text_ref, by, late: !isOk } });
    },
  }),
);
