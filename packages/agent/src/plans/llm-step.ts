import { llmGenerateParams, present } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { stepFence } from '../contracts/session.js';
import { llmGenerate } from './effects.js';
import { failureOf } from './fence.js';

/** How long one model call may take, its transport retries included. */
export const LLM_TIMEOUT_MS = 10 * 60_000;

/** An answer of which nobody knows whose it is: parts of it that only its model can read could go to another one. */
const UNADDRESSED = { code: 'validation_error/asked', retryable: false } as const;

/** `aos.agent/llm_step_plan@1`: one model call. Its event carries the epochs of its start. */
export const llmStepPlan = planOnUse('aos.agent/llm_step_plan@1', () =>
  definePlan({
    name: 'aos.agent/llm_step_plan@1',
    input: z.strictObject({ ...stepFence, params: llmGenerateParams }),
    effects: [llmGenerate],
    *run({ session_epoch, step_epoch, params }, plan) {
      const receipt = yield* plan.awaitReceipt(plan.emitEffect(llmGenerate, params, { timeoutMs: LLM_TIMEOUT_MS }));
      const fence = { session_epoch, step_epoch };
      const usage = receipt.usage === undefined ? {} : { usage: receipt.usage };
      const { asked } = receipt;
      if (receipt.status !== 'ok' || asked === undefined) {
        const failure = receipt.status === 'ok' ? UNADDRESSED : failureOf(receipt);
        return plan.raiseEvent({ name: 'aos.agent/LlmStepFailed@1', value: { ...fence, ...failure, ...usage } });
      }
      const { output_ref, finish_reason, tool_calls, returns, context, request_bytes, warnings_ref, dropped_calls } =
        receipt.payload;
      plan.raiseEvent({
        name: 'aos.agent/LlmStepCompleted@1',
        value: present({
          ...fence,
          output_ref,
          by: { profile: asked.profile, model: asked.model },
          finish_reason,
          tool_calls,
          dropped_calls,
          request_bytes,
          returns,
          context,
          warnings_ref,
          ...usage,
        }),
      });
    },
  }),
);
