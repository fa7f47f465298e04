import { pattern, present } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse, type ReceiptOf } from '@reprise/kernel/define';
import { stepFence } from '../contracts/session.js';
import type { ToolOutcome } from '../contracts/state.js';
import { type ToolCallReceipt, toolCall, toolCallParams } from '../contracts/tool-call.js';
import { nonExecutionOf, reasonOf } from './fence.js';

/** How long a tool call may take when its tool states no timeout. */
const TOOL_TIMEOUT_MS = 10 * 60_000;

const input = z.strictObject({
  ...stepFence,
  call: toolCallParams,
  timeout_ms: z.exactOptional(z.int().min(1)),
  approval: z.exactOptional(z.strictObject({ to: z.exactOptional(pattern) })),
});

/** `aos.agent/tool_call_plan@1`: one tool call. Its event carries the epochs of its start. */
export const toolCallPlan = planOnUse('aos.agent/tool_call_plan@1', () =>
  definePlan({
    name: 'aos.agent/tool_call_plan@1',
    input,
    effects: [toolCall],
    *run({ session_epoch, step_epoch, call, timeout_ms, approval }, plan) {
      const options = { timeoutMs: timeout_ms ?? TOOL_TIMEOUT_MS, ...(approval === undefined ? {} : { approval }) };
      const receipt = yield* plan.awaitReceipt(plan.emitEffect(toolCall, call, options));
      const usage = receipt.usage === undefined ? {} : { usage: receipt.usage };
      const value = {
        session_epoch,
        step_epoch,
        call_id: call.call_id,
        outcome: outcomeOf(receipt),
        ...bytesOf(receipt),
        ...changeOf(receipt),
        ...reasonOf(receipt),
        ...usage,
      };
      plan.raiseEvent({ name: 'aos.agent/ToolResult@1', value });
    },
  }),
);

function bytesOf({ status, payload }: ReceiptOf<ToolCallReceipt>): { readonly bytes?: number } {
  return status === 'ok' ? { bytes: payload.truncation_meta.bounded_bytes } : {};
}

function changeOf({ status, payload }: ReceiptOf<ToolCallReceipt>): Pick<ToolCallReceipt, 'changed'> {
  return status === 'ok' && payload.changed !== undefined ? { changed: payload.changed } : {};
}

function outcomeOf(receipt: ReceiptOf<ToolCallReceipt>): ToolOutcome {
  if (receipt.status !== 'ok') return { non_execution: nonExecutionOf(receipt) };
  const { model_output_ref, operator_output_ref, truncation_meta, is_error, ...more } = receipt.payload;
  const { error_code, files, artifacts, edited_args_ref } = more;
  return present({
    output_ref: model_output_ref,
    operator_output_ref,
    truncated: truncation_meta.truncated,
    is_error,
    error_code,
    files,
    artifacts,
    edited_args_ref,
  });
}
