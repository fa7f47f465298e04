import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { composedSection, workCompose } from '@reprise/org/contracts';
import { nodeNumber } from '../contracts/node.js';

/** The bytes of a question as an agent reads it. */
const QUESTION_BYTES_MAX = 16_000;

/** `tree/question_plan@1`: composes a question for a node whose run is under way. */
export const questionPlan = planOnUse('tree/question_plan@1', () =>
  definePlan({
    name: 'tree/question_plan@1',
    input: z.strictObject({ ask: nodeNumber, to: nodeNumber, sections: z.array(composedSection).max(8) }),
    effects: [workCompose],
    *run({ ask, to, sections }, plan) {
      const asked = plan.emitEffect(workCompose, { sections, bytes_max: QUESTION_BYTES_MAX });
      const composed = yield* plan.awaitReceipt(asked);
      const text_ref = composed.status === 'ok' ? composed.payload.text_ref : null;
      plan.raiseEvent({ name: 'tree/Questioned@1', value: { ask, to, text_ref } });
    },
  }),
);
