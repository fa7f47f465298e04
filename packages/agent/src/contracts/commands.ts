/** The events that a host, a person or another cell sends to a session. */
import { digestHex, inputPart, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { ADOPTIONS, adopted, type agentConfig, bounds, configPatch } from './config.js';

const count = z.int().min(0);

/** The id of a command, chosen by its sender. A command with a known id is not applied again. */
export const commandId = z.string().min(1).max(128);

/** The cause of a run. */
export const runCause = z.union([
  z.strictObject({ kind: z.literal('operator') }),
  z.strictObject({ kind: z.literal('follow_up'), command_id: commandId }),
  z.strictObject({
    kind: z.literal('parent'),
    session: z.string().min(1).max(256),
    call_id: z.string().min(1).max(128),
    /** The run at the root of the tree, which all events of the tree name. */
    root: z.exactOptional(z.string().min(1).max(512)),
  }),
  z.strictObject({ kind: z.literal('app'), reason: z.string().max(128) }),
]);

/** The cause of a run. */
export type RunCause = z.infer<typeof runCause>;

/** The scope of a cancel: the current turn, the run, or the run and all waiting inputs. */
export const CANCEL_SCOPES = ['turn', 'run', 'all'] as const;

/** A message. A pinned message stays in the window when a summary replaces the conversation around it. */
const said = { parts: z.array(inputPart).min(1).max(16), pin: z.exactOptional(z.literal(true)) };

/** The commands of a session; {@link sessionCommand} adds the envelope. */
export const sessionCommandBody = z.discriminatedUnion('type', [
  /** A message that the model reads before its next step. */
  z.strictObject({ type: z.literal('Steer'), ...said }),
  /** A message that the model reads after the current run, or when the run waits for input. */
  z.strictObject({ type: z.literal('FollowUp'), ...said }),
  z.strictObject({ type: z.literal('Reconfigure'), patch: configPatch }),
  z.strictObject({ type: z.literal('Pause') }),
  z.strictObject({ type: z.literal('Resume') }),
  z.strictObject({
    type: z.literal('Cancel'),
    scope: z.enum(CANCEL_SCOPES),
    reason_ref: z.exactOptional(ref()),
  }),
  /** Answers the input of the last run anew, when that run did not complete. */
  z.strictObject({
    type: z.literal('Retry'),
    /** The run that is retried; the last one when absent. */
    run: z.exactOptional(count),
  }),
  /** Withdraws a steer, a follow-up or a queued input that was not taken up yet. */
  z.strictObject({ type: z.literal('Withdraw'), command_id: commandId }),
  /**
   * Makes a child session and sends it its first input. `agents` lists the agents that may be spawned below it.
   * `budget` narrows its agent's limits.
   */
  z.strictObject({
    type: z.literal('Spawn'),
    agent: adopted,
    agents: z.array(adopted).max(32),
    parts: z.array(inputPart).min(1).max(16),
    max_tokens: z.exactOptional(z.int().min(1)),
    max_micro_money: z.exactOptional(z.int().min(1)),
    max_wall_ms: z.exactOptional(z.int().min(1)),
  }),
  /** Replaces the conversation so far by a summary, before the next step. */
  z.strictObject({ type: z.literal('Compact') }),
  /** Takes a file or an image out of the conversation, from the next step on: the model is told its name only. */
  z.strictObject({ type: z.literal('Drop'), content: digestHex() }),
  /** Accepts no further input and cancels what runs. */
  z.strictObject({
    type: z.literal('Close'),
    /** Does not wait for running work: the session had failed, which ended that work. */
    at_once: z.exactOptional(z.literal(true)),
  }),
]);

/** A command of a session without the envelope of {@link sessionCommand}. */
export type SessionCommand = z.infer<typeof sessionCommandBody>;

/** `aos.agent/HostCommand@1`. `expected_epoch`, when given, must be the session's. */
export const sessionCommand = z.strictObject({
  command_id: commandId,
  expected_epoch: z.exactOptional(count),
  command: sessionCommandBody,
});

/** Why a command was refused. */
export const REJECTIONS = [
  'session_closed',
  'stale_epoch',
  'nothing_to_pause',
  'nothing_to_resume',
  'nothing_to_cancel',
  'nothing_to_retry',
  'has_owner',
  'already_paused',
  'cancelling',
  'not_running',
  'unknown_model',
  'unknown_command',
  'config_too_large',
  'too_many_steers',
  'queue_full',
  'too_many_children',
  'input_empty',
  'nothing_to_compact',
  'compaction_off',
  'already_compacting',
  'already_dropped',
  'too_many_dropped',
  'model_without_price',
] as const;

/** Why a command was refused. */
export type Rejection = (typeof REJECTIONS)[number];

/** An input. It starts a run, or waits behind earlier inputs. */
export const userInput = z.strictObject({
  ...said,
  command_id: commandId,
  /** Higher values come first; 0 when absent. */
  priority: z.int().min(-1000).max(1000),
  cause: runCause,
  /**
   * The amount that a run of the parent has set aside with this input. Only the cell that made this session may send
   * it.
   */
  allowance: z.exactOptional(z.strictObject({ run: count, ...bounds.shape })),
});

/** An input, as {@link userInput} reads it. */
export type UserInput = z.infer<typeof userInput>;

/** Gives a session a definition; makes the session when it is new. */
export const agentAdopted = z.strictObject({
  ...adopted.shape,
  adopt: z.enum(ADOPTIONS),
  /** The agents that may be spawned, here and below. */
  agents: z.array(adopted).max(32),
  /**
   * Set when the session is made: its depth below other sessions, and whether it sends notices to the cell that made
   * it. `after_start` leaves out that a run starts, which a cell that sends every input itself knows.
   */
  depth: z.exactOptional(z.int().min(0).max(16)),
  tell_owner: z.exactOptional(z.literal([true, 'after_start'])),
  labels: z.exactOptional(z.record(z.string().max(64), z.string().max(256))),
  /** An input that is taken right after the definition, in the same delivery; a refusal concerns both. */
  input: z.exactOptional(userInput),
});

/** A configuration after its adoption. */
export type Config = z.infer<typeof agentConfig>;
