/** The part of an agent's definition that the session reducer decides on; the whole definition is a blob. */
import { modelOptions, ref } from '@reprise/contracts';
import * as z from 'zod';
import { TOOLSETS_MAX, toolsetChoice } from './toolset.js';

const count = z.int().min(0);
const some = (max: number) => z.int().min(1).max(max);

/** The name of an agent. */
export const agentName = z
  .string()
  .regex(/^[A-Za-z0-9_-]+$/)
  .max(64);

/** What a run may use, each checked before anything is emitted. Absent: no such limit. */
export const LIMIT_KINDS = [
  'max_turns',
  'max_steps',
  'max_tool_rounds',
  'max_tool_calls_per_step',
  'max_tokens',
  'max_micro_money',
  'max_wall_ms',
  'max_depth',
  'max_children',
] as const;

/** A limit of a run. */
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** What a run may use before it is stopped, and whether it then fails or asks. */
export const runLimits = z.strictObject({
  /** Inputs and steers that one run answers. */
  max_turns: some(100_000),
  /** Model calls in one run. */
  max_steps: some(100_000),
  /** Batches of tool calls in one run. */
  max_tool_rounds: some(100_000),
  /** Tool calls that one model answer may ask for. */
  max_tool_calls_per_step: some(64),
  /** Tokens of one run, what went in and what came out, its children included. */
  max_tokens: z.exactOptional(some(Number.MAX_SAFE_INTEGER)),
  /** Millionths of a unit of currency that one run may cost, its children included. */
  max_micro_money: z.exactOptional(some(Number.MAX_SAFE_INTEGER)),
  /** Time that one run may take, in milliseconds; time in which it waits for somebody outside does not count. */
  max_wall_ms: z.exactOptional(some(366 * 86_400_000)),
  /** How many sessions deep below this one children may stand; 0 permits none. */
  max_depth: z.int().min(0).max(16),
  /** Children that one session may have at once. */
  max_children: z.int().min(0).max(64),
  /** `fail` ends the run, `pause_and_ask` waits until somebody raises the limit, or cancels. */
  on_limit: z.enum(['fail', 'pause_and_ask']),
});

/** What a run may use before it is stopped. */
export type RunLimits = z.infer<typeof runLimits>;

/**
 * What a model costs: millionths of a micro-dollar for one token, so that a price in dollars for a million tokens with up
 * to six decimals is a whole number.
 */
export const modelPrice = z.strictObject({ in: count, out: count });

/** What a model costs, in millionths of a micro-dollar for one token. */
export type ModelPrice = z.infer<typeof modelPrice>;

/** Tokens and money together: what is reserved, set aside or used. */
export const limitAmounts = z.strictObject({ tokens: count, micro_money: count });

/** Tokens and money together. */
export type LimitAmounts = z.infer<typeof limitAmounts>;

/** Tokens and money together; null in a unit that nothing bounds. */
export const bounds = z.strictObject({ tokens: z.nullable(count), micro_money: z.nullable(count) });

/** Tokens and money together; null in a unit that nothing bounds. */
export type Bounds = z.infer<typeof bounds>;

/** What to do about a loop. */
export const LOOP_ACTIONS = ['steer', 'fail', 'complete_with_warning'] as const;

/** How loops are found and what is done about them. */
export const loopPolicy = z.strictObject({
  /** How many steps back are looked at. A cycle of any length that repeats within them is found. */
  window: z.int().min(2).max(32),
  /** How often a cycle of calls with equal results must come in a row. */
  repeats: z.int().min(2).max(16),
  /** How often a cycle of equal calls must come in a row whatever their results: a result may hold the time of day. */
  blind_repeats: z.int().min(2).max(32),
  /** What is done the first time, the second time …; the last one from then on. */
  actions: z.array(z.enum(LOOP_ACTIONS)).min(1).max(4),
  /** What the model is told by `steer`. */
  steer_ref: ref(),
});

/** How loops are found and what is done about them. */
export type LoopPolicy = z.infer<typeof loopPolicy>;

/** When the conversation so far is replaced by a summary, and what of it stays. */
export const compactionPolicy = z.strictObject({
  /** The pressure on the model's window, in percent, before whose next step it is done. */
  at: z.union([z.literal(70), z.literal(85), z.literal(95)]),
  /** The last answers that stay, with what was said to and by them; fewer where they take more than a quarter. */
  keep: some(16),
  /** The alias of the model that writes the summary; null for the session's own. */
  model: z.nullable(z.string().min(1).max(128)),
  /** What that model costs, where it is not the session's own; null when it has no price. */
  price: z.exactOptional(z.nullable(modelPrice)),
  /** How the model is asked for it. */
  ask_ref: ref(),
});

/** When the conversation so far is replaced by a summary. */
export type CompactionPolicy = z.infer<typeof compactionPolicy>;

/** When a session takes a definition that it is given while it runs. */
export const ADOPTIONS = ['next_run', 'next_step', 'pin'] as const;

/** The part of an agent's definition that the reducer decides on. */
export const agentConfig = z.strictObject({
  agent: agentName,
  /** The alias of the model. */
  model: z.string().min(1).max(128),
  /** The aliases that this session may be switched to. */
  models: z.array(z.string().min(1).max(128)).min(1).max(64),
  options: modelOptions,
  /** What the model costs; null when it has no price, and then no limit in money can be stated. */
  price: z.exactOptional(z.nullable(modelPrice)),
  system_ref: ref(),
  tools_ref: ref(),
  /** The bytes of the instructions and of the tools, as a model is told of them; absent when nobody stated them. */
  system_bytes: z.exactOptional(count),
  tools_bytes: z.exactOptional(count),
  /** Whose tools it may call besides; none when absent. */
  toolsets: z.exactOptional(z.array(toolsetChoice).min(1).max(TOOLSETS_MAX)),
  limits: runLimits,
  loop: z.nullable(loopPolicy),
  /** How many tokens the model's window holds; null when nobody knows. */
  context_window: z.nullable(z.int().min(1)),
  /** How the session makes room in that window; null: it does not. */
  compaction: z.nullable(compactionPolicy),
  /** After an answer without calls the run is over (`complete`), or open for more (`wait`, for so long at most). */
  after_answer: z.union([z.literal('complete'), z.strictObject({ wait_ms: z.nullable(z.int().min(1)) })]),
  /** What the model is told when its answer does not fit `returns`; null when any text is an answer. */
  repair_ref: z.nullable(ref()),
  /** What is put to a person when nobody can tell whether a call happened. */
  unknown_question_ref: ref(),
  /** The agents that this one may spawn. */
  spawns: z.array(agentName).max(32),
  /** How long what runs has to stop when it is cancelled. */
  cancel_grace_ms: z.int().min(0).max(600_000),
});

/** The part of an agent's definition that the reducer decides on. */
export type AgentConfig = z.infer<typeof agentConfig>;

/** A definition as a session holds it. */
export const adopted = z.strictObject({ def_ref: ref(), config: agentConfig });

/** A definition as a session holds it. */
export type Adopted = z.infer<typeof adopted>;

/** Limits that `Reconfigure` sets; null takes one away that need not be. */
export const limitsPatch = z.strictObject({
  max_turns: z.exactOptional(some(100_000)),
  max_steps: z.exactOptional(some(100_000)),
  max_tool_rounds: z.exactOptional(some(100_000)),
  max_tool_calls_per_step: z.exactOptional(some(64)),
  max_tokens: z.exactOptional(z.nullable(some(Number.MAX_SAFE_INTEGER))),
  max_micro_money: z.exactOptional(z.nullable(some(Number.MAX_SAFE_INTEGER))),
  max_wall_ms: z.exactOptional(z.nullable(some(366 * 86_400_000))),
  max_depth: z.exactOptional(z.int().min(0).max(16)),
  max_children: z.exactOptional(z.int().min(0).max(64)),
  on_limit: z.exactOptional(z.enum(['fail', 'pause_and_ask'])),
});

/** Limits that `Reconfigure` sets. */
export type LimitsPatch = z.infer<typeof limitsPatch>;

/** What `Reconfigure` changes, from the next step on; what is absent stays. */
export const configPatch = z.strictObject({
  model: z.exactOptional(z.string().min(1).max(128)),
  options: z.exactOptional(modelOptions),
  system_ref: z.exactOptional(ref()),
  /** The bytes of these instructions. */
  system_bytes: z.exactOptional(count),
  limits: z.exactOptional(limitsPatch),
  /** What the model costs; null when it has no price. */
  price: z.exactOptional(z.nullable(modelPrice)),
  context_window: z.exactOptional(z.nullable(z.int().min(1))),
});

/** What `Reconfigure` changes. */
export type ConfigPatch = z.infer<typeof configPatch>;

/** Usage as a run counts it. */
export const tally = z.strictObject({ steps: count, tokens_in: count, tokens_out: count, micro_money: count });

/** Usage as a run counts it. */
export type Tally = z.infer<typeof tally>;
