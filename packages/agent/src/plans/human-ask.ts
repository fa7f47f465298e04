import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { stepFence } from '../contracts/session.js';
import type { ToolOutcome } from '../contracts/state.js';
import { humanAsk, humanAskParams } from '../contracts/tool-call.js';
import { nonExecutionOf, reasonOf } from './fence.js';

/**
 * `aos.agent/human_ask_plan@1`: asks a person a question and reports the answer. Without an answer in time it reports
 * the default answer, where the question has one.
 */
export const humanAskPlan = planOnUse('aos.agent/human_ask_plan@1', () =>
  definePlan({
    name: 'aos.agent/human_ask_plan@1',
    input: z.strictObject({
      ...stepFence,
      call_id: z.string().min(1).max(128),
      question: humanAskParams,
      within_ms: z.exactOptional(z.int().min(1)),
      /** The default answer, as text. */
      default_ref: z.exactOptional(ref()),
    }),
    effects: [humanAsk],
    *run({ session_epoch, step_epoch, call_id, question, within_ms, default_ref }, plan) {
      const timeout = within_ms === undefined ? {} : { timeoutMs: within_ms };
      const receipt = yield* plan.awaitReceipt(plan.emitEffect(humanAsk, question, timeout));
      const answer = receipt.status === 'ok' ? receipt.payload.text_ref : undefined;
      const text = answer ?? (receipt.status === 'timeout' ? default_ref : undefined);
      const outcome: ToolOutcome =
        text === undefined
          ? { non_execution: receipt.status === 'timeout' ? UNANSWERED : nonExecutionOf(receipt) }
          : { output_ref: text, operator_output_ref: text, truncated: false, is_error: false };
      const said = receipt.status === 'ok' ? receipt.payload.bytes : undefined;
      const bytes = said === undefined ? {} : { bytes: said };
      const value = { session_epoch, step_epoch, call_id, outcome, ...bytes, ...reasonOf(receipt) };
      plan.raiseEvent({ name: 'aos.agent/ToolResult@1', value });
    },
  }),
);

/** The outcome of a question that was not answered. */
const UNANSWERED = { kind: 'failed', code: 'adapter_timeout/unanswered' } as const;
