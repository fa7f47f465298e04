/** The effect of calling a tool: what goes out and what comes back. */
import { ref } from '@reprise/contracts';
import { defineEffect } from '@reprise/kernel/define';
import * as z from 'zod';

/** `tool.call@1` parameters: the call as the model made it, its arguments behind a link. */
export const toolCallParams = z.strictObject({
  tool: z.string().min(1).max(128),
  call_id: z.string().min(1).max(128),
  args_ref: ref(),
  delivery: z.enum(['idempotent', 'at_most_once']),
});

/** `tool.call@1` receipt payload: the whole output for people, the bounded one for the model. */
export const toolCallReceipt = z.strictObject({
  operator_output_ref: ref(),
  model_output_ref: ref(),
  truncation_meta: z.strictObject({
    original_bytes: z.int().min(0),
    bounded_bytes: z.int().min(0),
    truncated: z.boolean(),
    policy_id: z.string().max(64),
  }),
  is_error: z.boolean(),
  error_code: z.exactOptional(z.enum(['tool_args_invalid', 'adapter_error'])),
});

/** `tool.call@1` parameters. */
export type ToolCallParams = z.infer<typeof toolCallParams>;
/** `tool.call@1` receipt payload. */
export type ToolCallReceipt = z.infer<typeof toolCallReceipt>;

/** The effect of calling a tool. Each call carries the delivery class of its tool. */
export const toolCall = defineEffect({
  kind: 'tool.call@1',
  params: toolCallParams,
  receipt: toolCallReceipt,
  delivery: { param: 'delivery' },
});
