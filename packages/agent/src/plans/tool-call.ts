import { ref } from '@reprise/contracts';
import { definePlan, type ReceiptOf } from '@reprise/kernel/define';
import * as z from 'zod';
import type { NonExecution } from '../contracts/non-execution.js';
import { stepFence, type ToolOutcome } from '../contracts/session.js';
import { type ToolCallReceipt, toolCall } from '../contracts/tool-call.js';

/** How long a tool call may take when its tool says nothing. */
const TOOL_TIMEOUT_MS = 10 * 60_000;

/** `aos.agent/tool_call_plan@1`: one tool call, told back to the session under the fence it was started with. */
export const toolCallPlan = definePlan({
  name: 'aos.agent/tool_call_plan@1',
  input: z.strictObject({
    ...stepFence,
    call_id: z.string().min(1).max(128),
    tool: z.string().min(1).max(128),
    args_ref: ref(),
    delivery: z.enum(['idempotent', 'at_most_once']),
    timeout_ms: z.exactOptional(z.int().min(1)),
  }),
  effects: [toolCall],
  *run({ session_epoch, step_epoch, call_id, tool, args_ref, delivery, timeout_ms }, plan) {
    const handle = plan.emitEffect(
      toolCall,
      { tool, call_id, args_ref, delivery },
      { timeoutMs: timeout_ms ?? TOOL_TIMEOUT_MS },
    );
    const outcome = outcomeOf(yield* plan.awaitReceipt(handle));
    plan.raiseEvent({ name: 'aos.agent/ToolResult@1', value: { session_epoch, step_epoch, call_id, outcome } });
  },
});

function outcomeOf(receipt: ReceiptOf<ToolCallReceipt>): ToolOutcome {
  if (receipt.status !== 'ok') return { non_execution: nonExecutionOf(receipt) };
  const { model_output_ref, operator_output_ref, truncation_meta, is_error } = receipt.payload;
  return { output_ref: model_output_ref, operator_output_ref, truncated: truncation_meta.truncated, is_error };
}

/** What the model is told of a call without an output: above all whether it may have happened. */
function nonExecutionOf(receipt: ReceiptOf<ToolCallReceipt>): NonExecution {
  const code = receipt.code === undefined ? {} : { code: receipt.code };
  switch (receipt.status) {
    case 'denied':
    case 'cancelled':
    case 'outcome_unknown':
      return { kind: receipt.status, ...code };
    // A call that ran into its time limit was started and may have happened.
    case 'timeout':
      return { kind: 'outcome_unknown', ...code };
    default:
      return { kind: 'failed', ...code };
  }
}
