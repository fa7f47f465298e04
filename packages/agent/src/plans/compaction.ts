import type { LlmGenerateReceipt } from '@reprise/contracts';
import { llmGenerateParams } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse, type ReceiptOf } from '@reprise/kernel/define';
import { stepFence } from '../contracts/session.js';
import { llmGenerate } from './effects.js';
import { failureOf } from './fence.js';
import { LLM_TIMEOUT_MS } from './llm-step.js';

/** `aos.agent/compaction_plan@1`: one model call that writes a summary. Its event carries the epochs of its start. */
export const compactionPlan = planOnUse('aos.agent/compaction_plan@1', () =>
  definePlan({
    name: 'aos.agent/compaction_plan@1',
    input: z.strictObject({ ...stepFence, params: llmGenerateParams }),
    effects: [llmGenerate],
    *run({ session_epoch, step_epoch, params }, plan) {
      const receipt = yield* plan.awaitReceipt(plan.emitEffect(llmGenerate, params, { timeoutMs: LLM_TIMEOUT_MS }));
      const fence = { session_epoch, step_epoch };
      const usage = receipt.usage === undefined ? {} : { usage: receipt.usage };
      const code = failureIn(receipt);
      plan.raiseEvent(
        receipt.status === 'ok' && code === undefined
          ? { name: 'aos.agent/Compacted@1', value: { ...fence, base_ref: receipt.payload.output_ref, ...usage } }
          : { name: 'aos.agent/CompactionFailed@1', value: { ...fence, code: code ?? 'adapter_error', ...usage } },
      );
    },
  }),
);

/**
 * The failure code of an answer that is not a complete summary: a partial one would lose the rest of the conversation.
 */
function failureIn(receipt: ReceiptOf<LlmGenerateReceipt>) {
  if (receipt.status !== 'ok') return failureOf(receipt).code;
  const { finish_reason, blank } = receipt.payload;
  if (finish_reason === 'content_filter') return 'provider_error_terminal/refusal';
  if (finish_reason === 'interrupted') return 'adapter_error/cancelled';
  if (finish_reason === 'error') return 'provider_error_terminal';
  return blank === true ? 'validation_error/summary' : undefined;
}
