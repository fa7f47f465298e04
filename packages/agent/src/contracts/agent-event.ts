/**
 * `AgentEvent@1`: what watchers of sessions see. Events are derived from journal frames and stored nowhere: the same
 * frames give the same events, wherever and whenever they are read.
 */
import { actor, droppedCalls, errorDetail, failureCode, RECEIPT_STATUSES, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { CANCEL_SCOPES, REJECTIONS, runCause } from './commands.js';
import { LOOP_ACTIONS, limitAmounts, tally } from './config.js';
import { COMMAND_DROPS, USAGE_DIFFERS } from './facts.js';
import { INPUT_DROPS, LIFECYCLES, stopReason, WAITS } from './lifecycle.js';
import { nonExecution } from './non-execution.js';
import { ownerReply } from './owner.js';
import { artifact, truncationMeta } from './tool-call.js';
import { toolsetCounts, toolsetName } from './toolset.js';
import { USER_ORIGINS } from './transcript.js';
import { COMPACTION_CAUSES } from './window.js';

const count = z.int().min(0);
const id = z.string().min(1).max(512);
const percent = z.union([z.literal(70), z.literal(85), z.literal(95)]);

/** The position of an event: `frame.record`. Pass the same text to resume after the event. */
export const cursor = z.matching<`${number}.${number}`>(/^-?\d+\.-?\d+$/, 'Invalid input');

/** The position of an event. */
export type Cursor = z.infer<typeof cursor>;

/** The fields of every event. A field that does not apply is null. */
export const correlation = {
  /** The key of the session's cell. */
  session_id: id,
  /** The run, such as `<session>/r3`; null outside of a run. */
  run_id: z.nullable(id),
  /** The turn, such as `<session>/r3/t2`; null outside of a turn. */
  turn_id: z.nullable(id),
  /** The step, such as `<session>/r3/t2/s5`; null outside of a step. */
  step_id: z.nullable(id),
  event_seq: cursor,
  /** The run at the root of the tree: a run of the session that no other session spawned. */
  correlation_id: z.nullable(id),
  /** The cause of the event: the id of an effect, or `<chain digest of the frame>#<record>`. */
  causation: id,
  /** The time of its frame, in milliseconds. */
  at: count,
} as const;

/** A file that a call made; only operators see `blob_ref`, which links the whole file. */
const shownArtifact = z.strictObject({ ...artifact.shape, blob_ref: z.exactOptional(ref()) });

const call = { call_id: z.string(), tool: z.string() } as const;
/** Operators only: the text of the error behind a failure, without secrets. */
const failed = { error_ref: z.exactOptional(ref()), error: z.exactOptional(errorDetail) } as const;
const command = { command_id: z.string(), command: z.string() } as const;
const compaction = { cause: z.enum(COMPACTION_CAUSES) } as const;
const child = { child: z.string(), session: z.string(), agent: z.string() } as const;

/** The meaning of a lifecycle change. */
export const LIFECYCLE_NEWS = [
  'started',
  'waiting',
  'paused',
  'resumed',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
] as const;

/** How a pending item ended. */
export const HUMAN_ENDS = ['approved', 'denied', 'answered', 'expired', 'cancelled'] as const;

const event = <T extends string, F extends z.Shape>(type: T, fields: F) =>
  z.strictObject({ type: z.literal(type), ...correlation, ...fields });

/** The schema of each type of event. */
export const AGENT_EVENTS = {
  'input.accepted': event('input.accepted', {
    command_id: z.string(),
    queued: z.boolean(),
    cause: runCause,
    /** Who sent it from outside; absent for the message of another cell. */
    actor: z.exactOptional(actor),
    ref: z.nullable(ref()),
    text: z.exactOptional(z.string()),
    /** The number of the run that the input was announced for, and which ended first. */
    moved_from: z.exactOptional(count),
  }),
  'input.dropped': event('input.dropped', { command_id: z.string(), why: z.enum(INPUT_DROPS) }),
  'turn.started': event('turn.started', {
    origin: z.enum(USER_ORIGINS),
    /** The input or the steer that the model is shown. */
    command_id: z.exactOptional(z.string()),
  }),
  lifecycle: event('lifecycle', {
    news: z.enum(LIFECYCLE_NEWS),
    /** `Queued`: the run never started. */
    from: z.enum(['Queued', ...LIFECYCLES]),
    to: z.enum(LIFECYCLES),
    waiting: z.exactOptional(z.strictObject({ for: z.enum(WAITS), until: z.nullable(count) })),
    stop: z.exactOptional(stopReason),
    /** The last answer, and the run's return value. */
    ref: z.exactOptional(ref()),
    value_ref: z.exactOptional(ref()),
    usage: z.exactOptional(tally),
    ...failed,
  }),
  'llm_step.requested': event('llm_step.requested', { model: z.string(), config_rev: count }),
  'llm_step.completed': event('llm_step.completed', {
    ref: ref(),
    text: z.exactOptional(z.string()),
    /** The model's reasoning, as far as its provider shows it. */
    reasoning: z.exactOptional(z.string()),
    finish_reason: z.string(),
    /** The ids of the requested calls. */
    calls: z.array(z.string()),
    /** The requested calls beyond the bound: they are not made, and the model is told so. */
    dropped_calls: z.exactOptional(droppedCalls),
    /** The model was stopped during its answer. */
    interrupted: z.boolean(),
    tally,
    /** What the provider warned of; only operators see it. */
    warnings_ref: z.exactOptional(ref()),
  }),
  'llm_step.failed': event('llm_step.failed', {
    code: z.string(),
    retryable: z.boolean(),
    again: z.boolean(),
    ...failed,
  }),
  'tool.requested': event('tool.requested', { ...call, ref: ref(), args: z.exactOptional(value()) }),
  'tool.completed': event('tool.completed', {
    ...call,
    /** The output that the model is given; absent when the call's result is that of its children or of its owner. */
    ref: z.exactOptional(ref()),
    text: z.exactOptional(z.string()),
    /** The answer of the session's owner. */
    answer: z.exactOptional(ownerReply),
    truncated: z.boolean(),
    /** Operators only: the whole output. */
    operator_ref: z.exactOptional(ref()),
    artifacts: z.array(shownArtifact),
    edited_args_ref: z.exactOptional(ref()),
  }),
  'tool.failed': event('tool.failed', {
    ...call,
    code: z.nullable(z.string()),
    non_execution: z.exactOptional(nonExecution),
    ref: z.exactOptional(ref()),
    text: z.exactOptional(z.string()),
    /** The answer of the session's owner. */
    answer: z.exactOptional(ownerReply),
    operator_ref: z.exactOptional(ref()),
    ...failed,
  }),
  'tool.bounded': event('tool.bounded', { ...call, ref: ref(), operator_ref: ref(), truncation: truncationMeta }),
  'tool.waiting': event('tool.waiting', { ...call, for: z.enum(['approval', 'ask', 'owner', 'children']) }),
  'tool.late': event('tool.late', {
    ...call,
    reported: z.nullable(nonExecution),
    status: z.enum(RECEIPT_STATUSES),
    ref: z.exactOptional(ref()),
  }),
  /** A call of a program was answered by the session's owner. */
  'owner.answered': event('owner.answered', { call_id: z.string(), answer: ownerReply, is_error: z.boolean() }),
  'human.requested': event('human.requested', {
    /** The id that `world.decide` takes. */
    id,
    kind: z.enum(['approval', 'question']),
    call_id: z.nullable(z.string()),
    tool: z.nullable(z.string()),
    to: z.nullable(z.string()),
    /** When the item expires, in milliseconds. */
    deadline: z.nullable(count),
    /** The question as a value; of an approval, the arguments of the call. */
    ref: z.exactOptional(ref()),
    value: z.exactOptional(value()),
  }),
  'human.resolved': event('human.resolved', {
    id,
    how: z.enum(HUMAN_ENDS),
    /** The principal whose rights counted; null when nobody decided. */
    by: z.nullable(z.string()),
    /** Who decided: absent when nobody did. */
    actor: z.exactOptional(actor),
    /** The reason or the comment that came with the decision, as text. */
    ref: z.exactOptional(ref()),
    reason: z.exactOptional(z.string()),
    /** The other pending items of the same call, which end with it. */
    also: z.exactOptional(z.array(id)),
  }),
  'child.spawned': event('child.spawned', child),
  'child.changed': event('child.changed', { ...child, status: z.enum(['running', 'waiting', 'closed']) }),
  'child.ended': event('child.ended', {
    ...child,
    status: z.enum(['completed', 'failed', 'cancelled']),
    ref: z.exactOptional(ref()),
    text: z.exactOptional(z.string()),
  }),
  'command.accepted': event('command.accepted', {
    ...command,
    /** Who sent it from outside; absent for the command of another cell. */
    actor: z.exactOptional(actor),
    still_queued: z.exactOptional(count),
    run: z.exactOptional(count),
    scope: z.exactOptional(z.enum(CANCEL_SCOPES)),
    session: z.exactOptional(z.string()),
    /** Of a steer and a follow-up: the first text of the message. */
    ref: z.exactOptional(ref()),
    text: z.exactOptional(z.string()),
    /** Of a cancel: the reason. Operators only. */
    reason_ref: z.exactOptional(ref()),
    reason: z.exactOptional(z.string()),
  }),
  'command.rejected': event('command.rejected', { ...command, code: z.enum(REJECTIONS) }),
  'command.applied': event('command.applied', { ...command, step: count }),
  'command.dropped': event('command.dropped', { ...command, why: z.enum(COMMAND_DROPS) }),
  'config.changed': event('config.changed', {
    config_rev: count,
    def_ref: ref(),
    model: z.string(),
    from_run: z.nullable(count),
  }),
  'context.pressure': event('context.pressure', {
    percent,
    tokens: count,
    window: count,
    by: z.enum(['usage', 'bytes']),
  }),
  'compaction.started': event('compaction.started', { ...compaction, model: z.string(), from: count, to: count }),
  /** From now on the model is shown item `to` and later ones, behind this summary; the transcript keeps all items. */
  'context.compacted': event('context.compacted', {
    ...compaction,
    from: count,
    to: count,
    ref: ref(),
    text: z.exactOptional(z.string()),
    tally,
  }),
  'compaction.failed': event('compaction.failed', { ...compaction, code: z.string(), ...failed }),
  'budget.pressure': event('budget.pressure', {
    percent: z.union([z.literal(70), z.literal(80), z.literal(95)]),
    limit: z.string(),
    used: count,
    of: count,
  }),
  'loop.detected': event('loop.detected', {
    length: count,
    repeats: count,
    by: z.enum(['calls_and_results', 'calls']),
    action: z.enum(LOOP_ACTIONS),
  }),
  'limit.reached': event('limit.reached', {
    limit: z.string(),
    used: count,
    of: count,
    /** Of tokens and money: the amount set aside for children, and the amount that the next model call needs. */
    set_aside: z.exactOptional(count),
    needs: z.exactOptional(count),
  }),
  /** The usage of a model call is more than its reserve, unknown (the reserve counts), or was reported late. */
  'usage.differs': event('usage.differs', { how: z.enum(USAGE_DIFFERS), reserved: limitAmounts, used: limitAmounts }),
  'toolset.changed': event('toolset.changed', {
    toolset: toolsetName,
    version: z.string(),
    ...toolsetCounts,
    /** The new, removed and changed tools, as a value. */
    ref: ref(),
    /** Whether a person is asked about the withheld tools. */
    asked: z.boolean(),
  }),
  'toolset.decided': event('toolset.decided', { toolset: toolsetName, approved: z.boolean() }),
  'toolset.unreachable': event('toolset.unreachable', {
    toolset: toolsetName,
    code: failureCode,
    ref: z.exactOptional(ref()),
    text: z.exactOptional(z.string()),
  }),
  'toolset.reachable': event('toolset.reachable', { toolset: toolsetName }),
  'effect.denied': event('effect.denied', { what: z.string(), effect: z.nullable(z.string()), code: failureCode }),
  'stale.ignored': event('stale.ignored', { event: z.string(), session_epoch: count, step_epoch: count }),
} as const;

/** The type of an event. */
export type AgentEventType = keyof typeof AGENT_EVENTS;

/** The types of events, in the order of their declaration. */
export const AGENT_EVENT_TYPES = Object.keys(AGENT_EVENTS) as readonly AgentEventType[];

/**
 * Who sees which events. `model`: the conversation, with the bounded output that the model is given. `operator`:
 * everything, whole outputs and diagnostics included.
 */
export const EVENT_CHANNELS = ['model', 'operator'] as const;

/** To whom events are shown, see {@link EVENT_CHANNELS}. */
export type EventChannel = (typeof EVENT_CHANNELS)[number];

/** Events that only operators see. */
export const OPERATOR_ONLY: readonly AgentEventType[] = [
  'tool.bounded',
  'config.changed',
  'context.pressure',
  'compaction.started',
  'compaction.failed',
  'budget.pressure',
  'loop.detected',
  'limit.reached',
  'usage.differs',
  'toolset.changed',
  'toolset.decided',
  'toolset.unreachable',
  'toolset.reachable',
  'effect.denied',
  'owner.answered',
  'stale.ignored',
];

type EventSchema = (typeof AGENT_EVENTS)[AgentEventType];

/** The schema of an event of a session, `AgentEvent@1`. */
export const agentEvent = z.discriminatedUnion('type', Object.values(AGENT_EVENTS) as [EventSchema, ...EventSchema[]]);

/** An event of a session, `AgentEvent@1`; its `type` says which. */
export type AgentEvent = z.infer<typeof agentEvent>;

/** An event of one type. */
export type AgentEventOf<T extends AgentEventType> = z.infer<(typeof AGENT_EVENTS)[T]>;

/**
 * A piece of an answer while the model writes it: live, of this process, never journaled, superseded by
 * `llm_step.completed`.
 */
export const delta = z.strictObject({
  type: z.literal('delta'),
  step_id: id,
  channel: z.enum(['text', 'reasoning', 'tool_args']),
  /** The part of the answer that the piece belongs to. */
  index: count,
  text: z.string(),
  /** The last durable event before the piece. */
  after: cursor,
});

/** Discards all pieces of this step so far: its model is called again. */
export const deltaReset = z.strictObject({ type: z.literal('delta.reset'), step_id: id, after: cursor });

/** A live event of an answer while the model writes it. */
export type Delta = z.infer<typeof delta> | z.infer<typeof deltaReset>;
