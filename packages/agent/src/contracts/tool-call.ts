/** The effects behind tool calls: their parameters and their receipts. */
import { digestHex, ON_UNKNOWN, pattern, ref, sessionInfo, toolMeaning } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineEffect, effectOnUse } from '@reprise/kernel/define';

const tool = z.string().min(1).max(128);
const digest = digestHex();

/** `tool.call@1` parameters: the call as the model made it, its arguments behind a link. */
export const toolCallParams = z.strictObject({
  tool,
  call_id: z.string().min(1).max(128),
  session: sessionInfo,
  /** The place of the call in its session. */
  at: z.exactOptional(z.strictObject({ run: z.int().min(0), turn: z.int().min(0), step: z.int().min(0) })),
  args_ref: ref(),
  /** The arguments that the model gave, when a person edited them before approving. */
  asked_ref: z.exactOptional(ref()),
  /** The digest of the tool's descriptor when the call was judged: it finds the tool. */
  fingerprint: z.exactOptional(digest),
  /** The digests of what the call means and of the words about it: an approval holds for this meaning only. */
  meaning: z.exactOptional(toolMeaning),
  /** The version of the tool that was judged, as a value. */
  judged_ref: z.exactOptional(ref()),
  /** Of a call that is asked about again: the version that it was decided on before, as a value. */
  before_ref: z.exactOptional(ref()),
  /** Of a toolset's tool: the entry that was judged, as a value. */
  entry_ref: z.exactOptional(ref()),
  guarantee: z.enum(['idempotent', 'at_most_once', 'reconcile']),
  /** The tool required an approval: without a decision about this call, a remembered one has released it. */
  needs_approval: z.exactOptional(z.literal(true)),
  /** The people that the tool's rule named, as a pattern of principals. */
  to: z.exactOptional(pattern),
  /** Why a person has to decide first, as text for readers of the pending item. */
  reason_ref: z.exactOptional(ref()),
});

/** A file or other content that a call made. */
export const artifact = z.strictObject({
  blob_ref: ref(),
  path: z.string().min(1).max(1024),
  media_type: z.string().min(1).max(128),
  /** The type that was declared, when the content has another: a warning to readers. */
  declared_type: z.exactOptional(z.string().min(1).max(128)),
  bytes: z.int().min(0),
});

/** A file or other content that a call made. */
export type Artifact = z.infer<typeof artifact>;

/** A file that a call changed: its content before and after; null where the file did not exist. */
export const fileChange = z.strictObject({
  path: z.string().min(1).max(1024),
  before_ref: z.nullable(ref()),
  after_ref: z.nullable(ref()),
  /** The old content contained a secret that was removed from `before`: it cannot be restored. */
  before_scrubbed: z.exactOptional(z.literal(true)),
  /** The new content contained a secret that was removed from `after`. */
  after_scrubbed: z.exactOptional(z.literal(true)),
});

/** A file that a call changed. */
export type FileChange = z.infer<typeof fileChange>;

/** How an output was cut for the model. */
export const truncationMeta = z.strictObject({
  original_bytes: z.int().min(0),
  bounded_bytes: z.int().min(0),
  truncated: z.boolean(),
  policy_id: z.string().max(64),
  original_lines: z.exactOptional(z.int().min(0)),
});

/**
 * A call that was not run because its tool has changed: the version that it was judged by and the one of this build, as
 * values, and the terms under which it is asked about again. Without these the model is told.
 */
export const changedCall = z.strictObject({
  judged_ref: z.exactOptional(ref()),
  now_ref: ref(),
  again: z.exactOptional(
    z.strictObject({
      fingerprint: digest,
      meaning: toolMeaning,
      entry_ref: z.exactOptional(ref()),
      guarantee: z.enum(['idempotent', 'at_most_once', 'reconcile']),
      timeout_ms: z.exactOptional(z.int().min(1)),
      parallel: z.boolean(),
      polling: z.boolean(),
      on_unknown: z.enum(ON_UNKNOWN),
      approval: z.strictObject({ to: z.exactOptional(pattern), reason_ref: z.exactOptional(ref()) }),
    }),
  ),
});

/** A call that was not run because its tool has changed. */
export type ChangedCall = z.infer<typeof changedCall>;

/** `tool.call@1` receipt payload: the whole output for people, the bounded one for the model. */
export const toolCallReceipt = z.strictObject({
  operator_output_ref: ref(),
  model_output_ref: ref(),
  truncation_meta: truncationMeta,
  is_error: z.boolean(),
  error_code: z.exactOptional(z.enum(['tool_args_invalid', 'adapter_error', 'validation_error'])),
  /** The call was done, but its result or a part of it could not be stored: the output states that. */
  result_lost: z.exactOptional(z.literal(true)),
  /** Images and files beside the text, for models that accept them. */
  files: z.exactOptional(z.array(artifact).max(16)),
  artifacts: z.exactOptional(z.array(artifact).max(64)),
  changes: z.exactOptional(z.array(fileChange).max(64)),
  /** Where the answer departs from what came, as a list of texts: numbers that are kept as text, odd parts. */
  warnings_ref: z.exactOptional(ref()),
  /** The arguments of the execution, when they differ from those that the model gave. */
  edited_args_ref: z.exactOptional(ref()),
  /** Set when the handler was not started, since its tool has changed. */
  changed: z.exactOptional(changedCall),
});

/** The parameters of an effect `tool.call@1`. */
export type ToolCallParams = z.infer<typeof toolCallParams>;
/** The payload of a receipt of `tool.call@1`. */
export type ToolCallReceipt = z.infer<typeof toolCallReceipt>;

/**
 * The effect of calling a tool. Each call carries the guarantee of its tool; rights and policy rules may name the tool,
 * as `tool.call@1#refund`. A remembered approval holds for one version of the tool: its meaning and its words.
 */
export const toolCall = effectOnUse('tool.call@1', () =>
  defineEffect({
    kind: 'tool.call@1',
    params: toolCallParams,
    receipt: toolCallReceipt,
    guarantee: { param: 'guarantee' },
    rights: { tool: 'tool' },
    subject: 'tool',
    remembers: 'meaning',
  }),
);

/** `human.ask@1` parameters: a question, as the canonical value behind a link (`{ question, options?, … }`). */
export const humanAskParams = z.strictObject({
  question_ref: ref(),
  /** The session that asks, or labels that another cell states for its question; absent without either. */
  session: z.exactOptional(sessionInfo),
  to: z.exactOptional(z.string().min(1).max(256)),
});

/** `human.ask@1` receipt payload: an answer as a canonical value, and as the text that the model reads. */
export const humanAskReceipt = z.strictObject({
  value_ref: ref(),
  text_ref: ref(),
  /** The bytes of the text. */
  bytes: z.exactOptional(z.int().min(0)),
});

/** The parameters of an effect `human.ask@1`. */
export type HumanAskParams = z.infer<typeof humanAskParams>;
/** The payload of a receipt of `human.ask@1`. */
export type HumanAskReceipt = z.infer<typeof humanAskReceipt>;

/** The effect of asking a person. Its adapter only passes the question on; the answering person settles the effect. */
export const humanAsk = effectOnUse('human.ask@1', () =>
  defineEffect({
    kind: 'human.ask@1',
    params: humanAskParams,
    receipt: humanAskReceipt,
    guarantee: 'idempotent',
  }),
);
