import * as z from 'zod';
import { ref } from './markers.js';

/** Why a model stopped. */
export const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter', 'error', 'other'] as const;

/** A tool as a model is told of it. `schema_ref` links the JSON Schema of its arguments. */
export const toolDescriptor = z.strictObject({
  name: z
    .string()
    .regex(/^[a-zA-Z0-9_-]+$/)
    .max(64),
  description: z.string().max(1024),
  schema_ref: ref(),
});

/** A tool as a model is told of it. */
export type ToolDescriptor = z.infer<typeof toolDescriptor>;

/**
 * `sys/LlmGenerateParams@2`: one model call. It names what to send by reference (`context_head` is the head of
 * the transcript log); the adapter projects the provider's request from it, so the journal stays small.
 */
export const llmGenerateParams = z.strictObject({
  model: z.string().min(1).max(128),
  system_ref: ref(),
  context_head: ref(),
  tools_ref: ref(),
  max_tokens: z.exactOptional(z.int().min(1)),
  temperature: z.exactOptional(z.number()),
  tool_choice: z.exactOptional(z.string().max(64)),
  reasoning_effort: z.exactOptional(z.enum(['low', 'medium', 'high'])),
  stop_sequences: z.exactOptional(z.array(z.string().max(256))),
  metadata: z.exactOptional(z.record(z.string(), z.string())),
  provider_options_ref: z.exactOptional(ref()),
  response_format_ref: z.exactOptional(ref()),
});

/** `sys/LlmGenerateParams@2`. */
export type LlmGenerateParams = z.infer<typeof llmGenerateParams>;

/**
 * A tool call that a model asked for, already judged where the tools are known: `issue` says why it cannot run,
 * `delivery` and `timeout_ms` how it is to be performed. `args_ref` links its arguments as canonical bytes.
 */
export const llmToolCall = z.strictObject({
  call_id: z.string().min(1).max(128),
  tool: z.string().min(1).max(128),
  args_ref: ref(),
  issue: z.exactOptional(z.enum(['args_not_json', 'args_not_object', 'tool_not_found'])),
  delivery: z.exactOptional(z.enum(['idempotent', 'at_most_once'])),
  timeout_ms: z.exactOptional(z.int().min(1)),
});

/** A tool call that a model asked for. */
export type LlmToolCall = z.infer<typeof llmToolCall>;

/** `sys/LlmGenerateReceipt@2`: the payload of a model call that was answered. */
export const llmGenerateReceipt = z.strictObject({
  output_ref: ref(),
  raw_output_ref: ref(),
  request_digest: z.string().regex(/^[0-9a-f]{64}$/),
  finish_reason: z.enum(FINISH_REASONS),
  tool_calls: z.array(llmToolCall).max(64),
  provider_response_id: z.exactOptional(z.string().max(256)),
  usage_details: z.exactOptional(
    z.strictObject({
      tokens_reasoning: z.exactOptional(z.int().min(0)),
      tokens_cache_read: z.exactOptional(z.int().min(0)),
      tokens_cache_write: z.exactOptional(z.int().min(0)),
    }),
  ),
  warnings_ref: z.exactOptional(ref()),
});

/** `sys/LlmGenerateReceipt@2`. */
export type LlmGenerateReceipt = z.infer<typeof llmGenerateReceipt>;
