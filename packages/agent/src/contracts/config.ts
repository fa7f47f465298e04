/** The part of an agent's definition that the session reducer reads; the whole definition is a blob. */
import { modelOptions, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { TOOLSETS_MAX, toolsetChoice } from './toolset.js';

const count = z.int().min(0);
const some = (max: number) => z.int().min(1).max(max);

/** The name of an agent. */
export const agentName = z
  .string()
  .regex(/^[A-Za-z0-9_-]+$/)
  .max(64);

/** The numeric limits of a run, each checked before anything is emitted. An absent limit does not apply. */
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

/** The limits of a run, and whether the run fails or asks when one is reached. */
export const runLimits = z.strictObject({
  /** How many inputs and steers one run answers. */
  max_turns: some(100_000),
  /** How many model calls one run makes. */
  max_steps: some(100_000),
  /** How many batches of tool calls one run makes. */
  max_tool_rounds: some(100_000),
  /** How many tool calls one model answer may request. */
  max_tool_calls_per_step: some(64),
  /** Tokens of one run, input and output, its children included. */
  max_tokens: z.exactOptional(some(Number.MAX_SAFE_INTEGER)),
  /** The cost of one run in millionths of a unit of currency, its children included. */
  max_micro_money: z.exactOptional(some(Number.MAX_SAFE_INTEGER)),
  /** The duration of one run in milliseconds; time in which it waits for outside input does not count. */
  max_wall_ms: z.exactOptional(some(366 * 86_400_000)),
  /** How many levels of child sessions may exist below this one; 0 permits no children. */
  max_depth: z.int().min(0).max(16),
  /** How many open children one session may have. */
  max_children: z.int().min(0).max(64),
  /** `fail` ends the run; `pause_and_ask` waits until an operator raises the limit or cancels. */
  on_limit: z.enum(['fail', 'pause_and_ask']),
});

/** The limits of a run. */
export type RunLimits = z.infer<typeof runLimits>;

/**
 * The price of a model: millionths of a micro-dollar for one token, so that a price in dollars for a million tokens
 * with up to six decimals is a whole number.
 */
export const modelPrice = z.strictObject({ in: count, out: count });

/** The price of a model, in millionths of a micro-dollar for one token. */
export type ModelPrice = z.infer<typeof modelPrice>;

/** Tokens and money together, of a reserve, an allowance or a usage. */
export const limitAmounts = z.strictObject({ tokens: count, micro_money: count });

/** Tokens, and money in millionths of a dollar. */
export type LimitAmounts = z.infer<typeof limitAmounts>;

/** Tokens and money together; null in a unit without a bound. */
export const bounds = z.strictObject({ tokens: z.nullable(count), micro_money: z.nullable(count) });

/** Tokens and money together; null in a unit without a bound. */
export type Bounds = z.infer<typeof bounds>;

/** The action against a loop. */
export const LOOP_ACTIONS = ['steer', 'fail', 'complete_with_warning'] as const;

/** How loops are detected, and the actions against them. */
export const loopPolicy = z.strictObject({
  /** How many steps back are compared. A cycle of any length that repeats within them is found. */
  window: z.int().min(2).max(32),
  /** How often a cycle of calls with equal results must come in a row. */
  repeats: z.int().min(2).max(16),
  /**
   * How often a cycle of equal calls must come in a row, whatever their results: a result may contain the time of day.
   */
  blind_repeats: z.int().min(2).max(32),
  /** The action for the first loop, the second loop …; the last action is repeated from then on. */
  actions: z.array(z.enum(LOOP_ACTIONS)).min(1).max(4),
  /** The text that `steer` sends to the model. */
  steer_ref: ref(),
});

/** How loops are detected, and the actions against them. */
export type LoopPolicy = z.infer<typeof loopPolicy>;

/** When a summary replaces the conversation so far, and which part of it stays. */
export const compactionPolicy = z.strictObject({
  /** The pressure on the model's window, in percent, above which the compaction precedes the next step. */
  at: z.union([z.literal(70), z.literal(85), z.literal(95)]),
  /**
   * How many of the last answers stay, with their inputs and results; fewer when they take more than a quarter of the
   * window.
   */
  keep: some(16),
  /** The alias of the model that writes the summary; null for the session's own. */
  model: z.nullable(z.string().min(1).max(128)),
  /** The price of that model when it is not the session's own; null when it has no price. */
  price: z.exactOptional(z.nullable(modelPrice)),
  /** The text that requests the summary. */
  ask_ref: ref(),
});

/** When a summary replaces the conversation so far. */
export type CompactionPolicy = z.infer<typeof compactionPolicy>;

/** When a running session adopts a new definition. */
export const ADOPTIONS = ['next_run', 'next_step', 'pin'] as const;

/** The part of an agent's definition that the reducer reads. */
export const agentConfig = z.strictObject({
  agent: agentName,
  /** The alias of the model. */
  model: z.string().min(1).max(128),
  /** The aliases that this session may be switched to. */
  models: z.array(z.string().min(1).max(128)).min(1).max(64),
  options: modelOptions,
  /** The price of the model; null when it has no price, and then no limit in money can be stated. */
  price: z.exactOptional(z.nullable(modelPrice)),
  system_ref: ref(),
  tools_ref: ref(),
  /** The bytes of the instructions and of the tools, as a model is told of them; absent when they were not measured. */
  system_bytes: z.exactOptional(count),
  tools_bytes: z.exactOptional(count),
  /** The toolsets whose tools the session may call as well; empty when absent. */
  toolsets: z.exactOptional(z.array(toolsetChoice).min(1).max(TOOLSETS_MAX)),
  limits: runLimits,
  loop: z.nullable(loopPolicy),
  /** How many tokens the model's window holds; null when that is unknown. */
  context_window: z.nullable(z.int().min(1)),
  /** How the session compacts that window; null: it does not. */
  compaction: z.nullable(compactionPolicy),
  /**
   * After an answer without calls the run is over (`complete`), or waits for more input for this time at most (`wait`).
   */
  after_answer: z.union([z.literal('complete'), z.strictObject({ wait_ms: z.nullable(z.int().min(1)) })]),
  /** The text for the model when its answer does not fit `returns`; null when any text is an answer. */
  repair_ref: z.nullable(ref()),
  /** The question for a person when the outcome of a call is unknown. */
  unknown_question_ref: ref(),
  /** The agents that this one may spawn. */
  spawns: z.array(agentName).max(32),
  /** How much time running work has to stop when it is cancelled. */
  cancel_grace_ms: z.int().min(0).max(600_000),
});

/** The part of an agent's definition that the reducer reads. */
export type AgentConfig = z.infer<typeof agentConfig>;

/** A definition as a session stores it. */
export const adopted = z.strictObject({ def_ref: ref(), config: agentConfig });

/** A definition as a session stores it. */
export type Adopted = z.infer<typeof adopted>;

/** Limits that `Reconfigure` sets; null removes an optional one. */
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

/** The limits that `Reconfigure` sets; those that are absent stay. */
export type LimitsPatch = z.infer<typeof limitsPatch>;

/** What `Reconfigure` changes, from the next step on; an absent field stays as it is. */
export const configPatch = z.strictObject({
  model: z.exactOptional(z.string().min(1).max(128)),
  options: z.exactOptional(modelOptions),
  system_ref: z.exactOptional(ref()),
  /** The bytes of these instructions. */
  system_bytes: z.exactOptional(count),
  limits: z.exactOptional(limitsPatch),
  /** The price of the model; null when it has no price. */
  price: z.exactOptional(z.nullable(modelPrice)),
  context_window: z.exactOptional(z.nullable(z.int().min(1))),
});

/** What `Reconfigure` changes of a configuration; what is absent stays. */
export type ConfigPatch = z.infer<typeof configPatch>;

/** Usage as a run counts it. */
export const tally = z.strictObject({ steps: count, tokens_in: count, tokens_out: count, micro_money: count });

/** Usage as a run counts it. */
export type Tally = z.infer<typeof tally>;

/** Whether a failed call may have been charged: not when the provider refused it or it never began. */
export function mayBeCharged(code: string): boolean {
  return !code.startsWith('provider_error') && !code.startsWith('policy_denied');
}
