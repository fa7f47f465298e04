import * as z from '../schema/index.js';
import { pattern } from './authority.js';
import { digestHex, ref, value } from './markers.js';

/** The name and version of the prompt assembly, as recorded in a model call's parameters. */
export const PROMPT_VERSION = 'aos.agent/Prompt@1';

/** Why a model stopped. `interrupted`: it was stopped, and its partial answer is stored. */
export const FINISH_REASONS = [
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'error',
  'interrupted',
  'other',
] as const;

/** How much content can be taken out of a conversation, as files and images. */
export const DROPPED_MAX = 64;

/** How many pinned items of a transcript stay in the window, however old they are. */
export const PINS_MAX = 16;

const name = z.string().min(1).max(128);
const callId = z.string().min(1).max(128);
const count = z.int().min(0);
const digest = digestHex();

/**
 * What a call of a tool means, as two digests: of its schema and terms, and of the words about it, as
 * `<meaning>.<words>`.
 */
export const toolMeaning = z.string().regex(/^[0-9a-f]{32}\.[0-9a-f]{32}$/);

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

/** The lanes of context texts, in the order in which a request contains them. */
export const CONTEXT_LANES = ['identity', 'goal', 'memory', 'inputs', 'task'] as const;

/** The recorded text of a context source. */
export const contextText = z.strictObject({
  lane: z.enum(CONTEXT_LANES),
  name: z.string().min(1).max(64),
  text_ref: ref(),
});

/** The recorded text of a context source. */
export type ContextText = z.infer<typeof contextText>;

/** The session of a call, as deps, context sources and approval rules receive it. */
export const sessionInfo = z.strictObject({
  key: z.string().min(1).max(256),
  labels: z.record(z.string().max(64), z.string().max(256)),
});

/** The session of a call. */
export type SessionInfo = z.infer<typeof sessionInfo>;

/** How much reasoning a model is asked for. */
export const REASONING_EFFORTS = ['low', 'medium', 'high'] as const;

/** The options of a model call besides its input, from the agent's definition or a `Reconfigure` command. */
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

/** The options of a model call besides its input. */
export type ModelOptions = z.infer<typeof modelOptions>;

/**
 * `sys/LlmGenerateParams@2`: one model call. It refers to its input by links, never by a list: `context_head` is the
 * head of the transcript log, `window` the part of it to show. The adapter assembles the provider's request from it.
 */
export const llmGenerateParams = z.strictObject({
  ...modelOptions.shape,
  /** The alias of a model; the options of the world map each alias to a model. */
  model: name,
  session: sessionInfo,
  def_ref: ref(),
  config_rev: count,
  system_ref: ref(),
  tools_ref: ref(),
  /** The session's stored state of its toolsets: lists like the one behind `tools_ref`. */
  toolset_refs: z.exactOptional(z.array(ref()).min(1).max(16)),
  context_head: ref(),
  /**
   * The window begins with this item. Before it stand the summary of earlier items, if there is one, and the earlier
   * items that were pinned.
   */
  window: z.strictObject({
    from: count,
    base_ref: z.exactOptional(ref()),
    pins: z.exactOptional(z.array(count).max(PINS_MAX)),
    /** Files and images that were taken out of the conversation, by the digests of their content. */
    dropped: z.exactOptional(z.array(digest).max(DROPPED_MAX)),
  }),
  /**
   * Set when the model is asked for a summary: the window ends before item `to`, followed by the text that requests the
   * summary. `head` bounds each tool result in bytes, when the whole was too large before.
   */
  summarise: z.exactOptional(z.strictObject({ to: count, ask_ref: ref(), head: z.exactOptional(z.int().min(1)) })),
  /** The texts of context sources from the first step of the run; absent at that step, where the sources are read. */
  context: z.exactOptional(z.array(contextText).max(16)),
  /** The name and version of the prompt assembly. */
  prompt: z.string().min(1).max(64),
});

/** The parameters of a call of a model, `sys/LlmGenerateParams@2`. */
export type LlmGenerateParams = z.infer<typeof llmGenerateParams>;

/** How much of linked content a reader is given. */
export const partView = z.union([
  z.literal('full'),
  z.literal('summary'),
  z.strictObject({ head: z.int().min(1).max(1_000_000) }),
]);

/** The size of the content that a part links, in bytes; absent when unknown. Budgets reserve by it. */
const partBytes = { bytes: z.exactOptional(count) };

/** A part of an input: a text, linked content, or the result of a child session. */
export const inputPart = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text_ref: ref(), ...partBytes }),
  z.strictObject({
    kind: z.literal('blob'),
    blob_ref: ref(),
    view: partView,
    media_type: z.string().min(1).max(128),
    /** The type that was declared, when the content has another: a warning to readers. */
    declared_type: z.exactOptional(z.string().min(1).max(128)),
    name: z.exactOptional(z.string().max(256)),
    /** The content stands behind a salt, and can be erased: the part then says that it was. */
    salted: z.exactOptional(z.literal(true)),
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

/**
 * A session operation: a call that the session itself executes instead of an adapter, or passes to its owner; judged
 * from its arguments and recorded.
 */
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
  z.strictObject({ op: z.literal('owner'), name: z.string().min(1).max(64), args: value() }),
]);

/** What a call of a session's tool has the session do. */
export type SessionOp = z.infer<typeof sessionOp>;

/** Why a call cannot run. */
export const CALL_ISSUES = [
  'args_not_json',
  'args_not_object',
  'args_invalid',
  'tool_not_found',
  'tool_disabled',
] as const;

/** The reaction when the outcome of a call is unknown. */
export const ON_UNKNOWN = ['tell_model', 'ask_human', 'fail', 'retry'] as const;

/**
 * A tool call that a model requested, already judged by the recorded code. Every decision of author code is in it, so a
 * deploy cannot change it: `issue` says why the call cannot run, `approval` that a person decides first, `resource`
 * which resource it needs alone. `args_ref` links its arguments as canonical bytes.
 */
export const llmToolCall = z.strictObject({
  call_id: callId,
  tool: name,
  args_ref: ref(),
  /** A short digest of the tool and its canonical arguments: equal calls have equal keys. */
  signature: z.string().regex(/^[0-9a-f]{16}$/),
  issue: z.exactOptional(z.enum(CALL_ISSUES)),
  /** The text about the issue for the model. */
  issue_ref: z.exactOptional(ref()),
  /** The digest of the tool's descriptor at the time. */
  fingerprint: z.exactOptional(digest),
  /** What the call means: the digests of the tool's meaning and words at the time. */
  meaning: z.exactOptional(toolMeaning),
  /** The version of the tool at the time, as a value. */
  judged_ref: z.exactOptional(ref()),
  /** Of a toolset's tool: its entry, as a value. */
  entry_ref: z.exactOptional(ref()),
  guarantee: z.exactOptional(z.enum(['idempotent', 'at_most_once', 'reconcile'])),
  timeout_ms: z.exactOptional(z.int().min(1)),
  approval: z.exactOptional(z.strictObject({ to: z.exactOptional(pattern), reason_ref: z.exactOptional(ref()) })),
  /** Calls of one step with the same resource run one after another. */
  resource: z.exactOptional(z.string().min(1).max(256)),
  /** `false`: the call runs alone. */
  parallel: z.exactOptional(z.boolean()),
  /** The tool is meant to be repeated: loop detection ignores the call. */
  polling: z.exactOptional(z.boolean()),
  on_unknown: z.exactOptional(z.enum(ON_UNKNOWN)),
  session: z.exactOptional(sessionOp),
});

/** A tool call that a model asked for, judged. */
export type LlmToolCall = z.infer<typeof llmToolCall>;

/** A final answer checked by the agent's `returns`: its value as canonical bytes, or its problems as text. */
export const judgedReturn = z.union([z.strictObject({ value_ref: ref() }), z.strictObject({ issue_ref: ref() })]);

/** How many calls of one answer are stored: the model is told about the others, and they are not made. */
export const ANSWER_CALLS_MAX = 64;

/** The calls of an answer beyond that bound: their number, and the tools that they name. */
export const droppedCalls = z.strictObject({ count: z.int().min(1), tools: z.array(name).max(16) });

/** The calls of an answer beyond the bound. */
export type DroppedCalls = z.infer<typeof droppedCalls>;

/**
 * `sys/LlmGenerateReceipt@2`: the payload of a completed model call. The receipt itself says which model was `asked`; one
 * that does not fails the step.
 */
export const llmGenerateReceipt = z.strictObject({
  output_ref: ref(),
  raw_output_ref: ref(),
  request_digest: digest,
  /** A digest of the part of the request that the next one repeats. */
  prefix_digest: z.exactOptional(digest),
  request_bytes: count,
  finish_reason: z.enum(FINISH_REASONS),
  tool_calls: z.array(llmToolCall).max(ANSWER_CALLS_MAX),
  dropped_calls: z.exactOptional(droppedCalls),
  /** The model gave no text. */
  blank: z.exactOptional(z.literal(true)),
  returns: z.exactOptional(judgedReturn),
  /** The texts of the context sources, when they were read. */
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

/** The payload of the receipt of a call, `sys/LlmGenerateReceipt@2`. */
export type LlmGenerateReceipt = z.infer<typeof llmGenerateReceipt>;
