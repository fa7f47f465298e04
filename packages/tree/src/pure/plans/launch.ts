import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { composedSection, workCompose } from '@reprise/org/contracts';
import { carried, nodeNumber } from '../contracts/node.js';

/** The bytes of a prompt that the tree composes. */
const PROMPT_BYTES_MAX = 400_000;

/** `tree/launch_plan@1`: composes the prompt of a launch. */
export const launchPlan = planOnUse('tree/launch_plan@1', () =>
  definePlan({
    name: 'tree/launch_plan@1',
    input: z.strictObject({
      n: nodeNumber,
      launch: z.int().min(0),
      sections: z.array(composedSection).max(64),
      carries: carried,
    }),
    effects: [workCompose],
    *run({ n, launch, sections, carries }, plan) {
      const composed = yield* plan.awaitReceipt(
        plan.emitEffect(workCompose, { sections, bytes_max: PROMPT_BYTES_MAX }),
      );
      const isOk = composed.status === 'ok';
      const value = {
        n,
        launch,
        carries,
        text_ref: isOk ? composed.payload.text_ref : null,
        code: isOk ? null : (composed.code ?? composed.status),
      };
      plan.raiseEvent({ name: 'tree/Composed@1', value });
    },
  }),
);
