/** What a host, a person or another cell asks of a session. */
import { inputPart, ref } from '@reprise/contracts';
import * as z from 'zod';
import { ADOPTIONS, adopted, type agentConfig, bounds, configPatch } from './config.js';

const count = z.int().min(0);

/** What a command is known by: its sender's choice, and what makes it happen once. */
export const commandId = z.string().min(1).max(128);

/** Why there is a run. */
export const runCause = z.union([
  z.strictObject({ kind: z.literal('operator') }),
  z.strictObject({ kind: z.literal('follow_up'), command_id: commandId }),
  z.strictObject({
    kind: z.literal('parent'),
    session: z.string().min(1).max(256),
    call_id: z.string().min(1).max(128),
    /** The run at the root, which all events of a tree name. */
    root: z.exactOptional(z.string().min(1).max(512)),
  }),
  z.strictObject({ kind: z.literal('app'), reason: z.string().max(128) }),
]);

/** Why there is a run. */
export type RunCause = z.infer<typeof runCause>;

/** How far a cancel goes: the turn under way, the run, or the run with all that waits behind it. */
export const CANCEL_SCOPES = ['turn', 'run', 'all'] as const;

/** What somebody says. What is pinned stays before the model when the conversation around it becomes a summary. */
const said = { parts: z.array(inputPart).min(1).max(16), pin: z.exactOptional(z.literal(true)) };

/** A command. */
export const sessionCommandBody = z.discriminatedUnion('type', [
  /** Said to the model before its next step. */
  z.strictObject({ type: z.literal('Steer'), ...said }),
  /** Said after the current run, or when it waits for input. */
  z.strictObject({ type: z.literal('FollowUp'), ...said }),
  z.strictObject({ type: z.literal('Reconfigure'), patch: configPatch }),
  z.strictObject({ type: z.literal('Pause') }),
  z.strictObject({ type: z.literal('Resume') }),
  z.strictObject({
    type: z.literal('Cancel'),
    scope: z.enum(CANCEL_SCOPES),
    reason_ref: z.exactOptional(ref()),
  }),
  /** Takes back a steer, a follow-up or a queued input that was not taken up yet. */
  z.strictObject({ type: z.literal('Withdraw'), command_id: commandId }),
  /**
   * Makes a child session and gives it its first input. `agents` are those that may be spawned below it; what it may use
   * at most is its agent's limits, narrowed by these.
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
  /** What the person who decides about a call says to the model. */
  z.strictObject({ type: z.literal('Note'), call_id: z.string().min(1).max(128), text_ref: ref() }),
  /** Replaces the conversation so far by a summary, before the next step. */
  z.strictObject({ type: z.literal('Compact') }),
  /** No further input; what runs is cancelled. */
  z.strictObject({
    type: z.literal('Close'),
    /** Nothing that runs is waited for: the session had failed, which ended that. */
    at_once: z.exactOptional(z.literal(true)),
  }),
]);

/** A command. */
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
  'already_paused',
  'cancelling',
  'not_running',
  'unknown_model',
  'unknown_command',
  'unknown_call',
  'config_too_large',
  'too_many_steers',
  'queue_full',
  'too_many_children',
  'input_empty',
  'nothing_to_compact',
  'compaction_off',
  'already_compacting',
  'model_without_price',
] as const;

/** Why a command was refused. */
export type Rejection = (typeof REJECTIONS)[number];

/** A session takes a definition; makes the session when it is new. */
export const agentAdopted = z.strictObject({
  ...adopted.shape,
  adopt: z.enum(ADOPTIONS),
  /** Those that may be spawned, here and below. */
  agents: z.array(adopted).max(32),
  /** Set at the making: sessions above this one, and whether the cell that made it is told how it goes. */
  depth: z.exactOptional(z.int().min(0).max(16)),
  tell_owner: z.exactOptional(z.literal(true)),
  labels: z.exactOptional(z.record(z.string().max(64), z.string().max(256))),
});

/** Somebody said something. Starts a run, or waits for those before it. */
export const userInput = z.strictObject({
  ...said,
  command_id: commandId,
  /** Higher comes first; 0 when it is not said. */
  priority: z.int().min(-1000).max(1000),
  cause: runCause,
  /** What a run of the cell that made this session has set aside for it with this input. Only that cell may give it. */
  allowance: z.exactOptional(z.strictObject({ run: count, ...bounds.shape })),
});

/** A configuration as it was adopted. */
export type Config = z.infer<typeof agentConfig>;
