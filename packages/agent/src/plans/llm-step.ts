import { type FailureCode, llmGenerateParams } from '@reprise/contracts';
import { definePlan, type ReceiptOf } from '@reprise/kernel/define';
import * as z from 'zod';
import { stepFence } from '../contracts/session.js';
import { llmGenerate } from './effects.js';

/** How long one model call may take, its transport retries included. */
const LLM_TIMEOUT_MS = 10 * 60_000;

/** `aos.agent/llm_step_plan@1`: one model call, told back to the session under the fence it was started with. */
export const llmStepPlan = definePlan({
  name: 'aos.agent/llm_step_plan@1',
  input: z.strictObject({ ...stepFence, params: llmGenerateParams }),
  effects: [llmGenerate],
  *run({ session_epoch, step_epoch, params }, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(llmGenerate, params, { timeoutMs: LLM_TIMEOUT_MS }));
    const fence = { session_epoch, step_epoch };
    if (receipt.status === 'ok') {
      const { output_ref, finish_reason, tool_calls } = receipt.payload;
      const usage = receipt.usage === undefined ? {} : { usage: receipt.usage };
      plan.raiseEvent({
        name: 'aos.agent/LlmStepCompleted@1',
        value: { ...fence, output_ref, finish_reason, tool_calls, ...usage },
      });
    } else {
      plan.raiseEvent({ name: 'aos.agent/LlmStepFailed@1', value: { ...fence, ...failureOf(receipt) } });
    }
  },
});

function failureOf(receipt: ReceiptOf<unknown>): { code: FailureCode; retryable: boolean } {
  const byStatus: Record<string, FailureCode> = {
    denied: 'policy_denied',
    timeout: 'adapter_timeout',
    cancelled: 'adapter_error/cancelled',
    outcome_unknown: 'adapter_error/outcome_unknown',
  };
  const code = (receipt.code as FailureCode | undefined) ?? byStatus[receipt.status] ?? 'adapter_error';
  return { code, retryable: receipt.retryable ?? false };
}
