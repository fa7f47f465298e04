import * as z from 'zod';
import { pattern } from './authority.js';
import { ref } from './markers.js';

/** Why a model stopped. `interrupted`: it was told to stop, and what it had said by then is kept. */
export const FINISH_REASONS = [
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'error',
  'interrupted',
  'other',
] as const;

/** Items of a transcript that stay in the window, however old. */
export const PINS_MAX = 16;

const name = z.string().min(1).max(128);
const callId = z.string().min(1).max(128);
const count = z.int().min(0);
const digest = z.string().regex(/^[0-9a-f]{64}$/);

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

/** Where a part of the context stands, in the order in which a request holds them. */
export const CONTEXT_LANES = ['identity', 'goal', 'memory', 'inputs', 'task'] as const;

/** A text that a context source gave, as it was recorded. */
export const contextText = z.strictObject({
  lane: z.enum(CONTEXT_LANES),
  name: z.string().min(1).max(64),
  text_ref: ref(),
});

/** A text that a context source gave. */
export type ContextText = z.infer<typeof contextText>;

/** Which session something is done for: what deps, context sources and approval rules are told. */
export const sessionInfo = z.strictObject({
  key: z.string().min(1).max(256),
  labels: z.record(z.string().max(64), z.string().max(256)),
});

/** Which session something is done for. */
export type SessionInfo = z.infer<typeof sessionInfo>;

/** How much thinking a model is asked for. */
export const REASONING_EFFORTS = ['low', 'medium', 'high'] as const;

/** What may be set for a model call besides its input: of the agent's definition, and changed by `Reconfigure`. */
export const modelOptions = z.strictObject({
  max_tokens: z.exactOptional(z.int().min(1)),
  temperature: z.exactOptional(z.number()),
  tool_choice: z.exactOptional(z.string().max(64)),
  reasoning_effort: z.exactOptional(z.enum(REASONING_EFFORTS)),
  stop_sequences: z.exactOptional(z.array(z.string().max(256)).max(16)),
  metadata: z.exactOptional(z.record(z.string().max(64), z.string().max(512))),
  provider_options_ref: z.exactOptional(ref()),
  response_format_ref: z.exactOptional(ref()),
});

/** What may be set for a model call besides its input. */
export type ModelOptions = z.infer<typeof modelOptions>;

/**
 * `sys/LlmGenerateParams@2`: one model call. It names what to send by reference, never as a list: `context_head` is the
 * head of the transcript log, `window` which part of it counts. The adapter projects the provider's request from it.
 */
export const llmGenerateParams = z.strictObject({
  ...modelOptions.shape,
  /** The alias of a model; which one stands behind it is said when a world is opened. */
  model: name,
  session: sessionInfo,
  def_ref: ref(),
  config_rev: count,
  system_ref: ref(),
  tools_ref: ref(),
  /** What the session holds of its toolsets: lists like the one behind `tools_ref`. */
  toolset_refs: z.exactOptional(z.array(ref()).min(1).max(16)),
  context_head: ref(),
  /**
   * The items of the transcript from this index on. Before them a summary of what came earlier, when there is one, and
   * those earlier items that were pinned.
   */
  window: z.strictObject({
    from: count,
    base_ref: z.exactOptional(ref()),
    pins: z.exactOptional(z.array(count).max(PINS_MAX)),
  }),
  /**
   * Set where the model is asked for a summary: the window ends before item `to`, and behind it stands the text that
   * asks. `head` bounds what is told of each tool's result, in bytes, where the whole was too much already.
   */
  summarise: z.exactOptional(z.strictObject({ to: count, ask_ref: ref(), head: z.exactOptional(z.int().min(1)) })),
  /** What context sources gave at the first step of the run; absent at that step, where they are asked. */
  context: z.exactOptional(z.array(contextText).max(16)),
  /** The name and version of the prompt assembly from transcript to request. */
  prompt: z.string().min(1).max(64),
});

/** `sys/LlmGenerateParams@2`. */
export type LlmGenerateParams = z.infer<typeof llmGenerateParams>;

/** How much of what is pointed to a reader gets. */
export const partView = z.union([
  z.literal('full'),
  z.literal('summary'),
  z.strictObject({ head: z.int().min(1).max(1_000_000) }),
]);

/** The bytes of the content that a part links; absent when nobody stated them. A budget reserves by them. */
const partBytes = { bytes: z.exactOptional(count) };

/** A part of an input: a text, content that is pointed to, or what a child session came to. */
export const inputPart = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text_ref: ref(), ...partBytes }),
  z.strictObject({
    kind: z.literal('blob'),
    blob_ref: ref(),
    view: partView,
    media_type: z.string().min(1).max(128),
    name: z.exactOptional(z.string().max(256)),
    ...partBytes,
  }),
  z.strictObject({
    kind: z.literal('result'),
    child: z.string().min(1).max(256),
    output_ref: ref(),
    view: partView,
    ...partBytes,
  }),
]);

/** A part of an input. */
export type InputPart = z.infer<typeof inputPart>;

/** What a call asks of the session itself rather than of an adapter; judged from its arguments and recorded. */
export const sessionOp = z.discriminatedUnion('op', [
  z.strictObject({
    op: z.literal('ask'),
    question_ref: ref(),
    to: z.exactOptional(pattern),
    within_ms: z.exactOptional(z.int().min(1)),
    default_ref: z.exactOptional(ref()),
  }),
  z.strictObject({
    op: z.literal('spawn'),
    agent: z.string().min(1).max(64),
    parts: z.array(inputPart).min(1).max(16),
    max_tokens: z.exactOptional(z.int().min(1)),
    max_micro_money: z.exactOptional(z.int().min(1)),
    max_wall_ms: z.exactOptional(z.int().min(1)),
  }),
  z.strictObject({
    op: z.literal('send_input'),
    child: z.string().min(1).max(64),
    parts: z.array(inputPart).min(1).max(16),
  }),
  z.strictObject({
    op: z.literal('wait'),
    children: z.array(z.string().min(1).max(64)).min(1).max(64),
    mode: z.enum(['any', 'all']),
    within_ms: z.exactOptional(z.int().min(1)),
  }),
  z.strictObject({ op: z.literal('close'), child: z.string().min(1).max(64) }),
]);

/** What a call asks of the session itself. */
export type SessionOp = z.infer<typeof sessionOp>;

/** Why a call cannot run. */
export const CALL_ISSUES = [
  'args_not_json',
  'args_not_object',
  'args_invalid',
  'tool_not_found',
  'tool_disabled',
] as const;

/** What to do when nobody can tell whether a call happened. */
export const ON_UNKNOWN = ['tell_model', 'ask_human', 'fail', 'retry'] as const;

/**
 * A tool call that a model asked for, already judged where the tools are known. Everything that author code decided
 * about it is here, so a deploy cannot change it: `issue` says why it cannot run, `approval` that somebody decides first,
 * `resource` what it must have for itself. `args_ref` links its arguments as canonical bytes.
 */
export const llmToolCall = z.strictObject({
  call_id: callId,
  tool: name,
  args_ref: ref(),
  /** Equal for equal calls: a short digest of the tool and its arguments in canonical form. */
  signature: z.string().regex(/^[0-9a-f]{16}$/),
  issue: z.exactOptional(z.enum(CALL_ISSUES)),
  /** What the model is told about the issue, as text. */
  issue_ref: z.exactOptional(ref()),
  /** The digest of the tool's descriptor at the time. */
  fingerprint: z.exactOptional(digest),
  /** Of a tool of a toolset: its entry, as a value. */
  entry_ref: z.exactOptional(ref()),
  guarantee: z.exactOptional(z.enum(['idempotent', 'at_most_once', 'reconcile'])),
  timeout_ms: z.exactOptional(z.int().min(1)),
  approval: z.exactOptional(z.strictObject({ to: z.exactOptional(pattern), reason_ref: z.exactOptional(ref()) })),
  /** Calls of one step with the same resource run one after another. */
  resource: z.exactOptional(z.string().min(1).max(256)),
  /** False: it runs alone. */
  parallel: z.exactOptional(z.boolean()),
  /** It is meant to be repeated: loop detection passes it over. */
  polling: z.exactOptional(z.boolean()),
  on_unknown: z.exactOptional(z.enum(ON_UNKNOWN)),
  session: z.exactOptional(sessionOp),
});

/** A tool call that a model asked for, judged. */
export type LlmToolCall = z.infer<typeof llmToolCall>;

/** What a final answer is by the agent's `returns`: its value as canonical bytes, or what is wrong with it, as text. */
export const judgedReturn = z.union([z.strictObject({ value_ref: ref() }), z.strictObject({ issue_ref: ref() })]);

/** The most calls of one answer that are kept: what a model asks for beyond them is told, and not made. */
export const ANSWER_CALLS_MAX = 64;

/** The calls of an answer beyond those that are kept: how many, and of which tools, as far as they are named. */
export const droppedCalls = z.strictObject({ count: z.int().min(1), tools: z.array(name).max(16) });

/** The calls of an answer beyond those that are kept. */
export type DroppedCalls = z.infer<typeof droppedCalls>;

/** `sys/LlmGenerateReceipt@2`: the payload of a model call that was answered. */
export const llmGenerateReceipt = z.strictObject({
  output_ref: ref(),
  raw_output_ref: ref(),
  /** Who answered: a later request to another keeps what both understand. */
  by: z.strictObject({ profile: name, model: name }),
  request_digest: digest,
  /** Of the part of the request that the next one repeats. */
  prefix_digest: z.exactOptional(digest),
  request_bytes: count,
  finish_reason: z.enum(FINISH_REASONS),
  tool_calls: z.array(llmToolCall).max(ANSWER_CALLS_MAX),
  dropped_calls: z.exactOptional(droppedCalls),
  /** It said nothing. */
  blank: z.exactOptional(z.literal(true)),
  returns: z.exactOptional(judgedReturn),
  /** What the context sources gave, when they were asked. */
  context: z.exactOptional(z.array(contextText).max(16)),
  provider_response_id: z.exactOptional(z.string().max(256)),
  usage_details: z.exactOptional(
    z.strictObject({
      tokens_reasoning: z.exactOptional(count),
      tokens_cache_read: z.exactOptional(count),
      tokens_cache_write: z.exactOptional(count),
    }),
  ),
  /** What was lost between the transcript and the request, or the answer and its record: a list of codes as a value. */
  warnings_ref: z.exactOptional(ref()),
});

/** `sys/LlmGenerateReceipt@2`. */
export type LlmGenerateReceipt = z.infer<typeof llmGenerateReceipt>;
