/**
 * Words for what happens in a run: the types of its events, as scenarios say them, and why it stops. Concurrent things
 * have one order here, since performances are played from tapes in virtual time.
 */
import type { StopReason } from 'reprise';

/** The beginning of a run. */
export const BEGIN = ['input.accepted', 'lifecycle', 'turn.started'] as const;
/** The end of a run. */
export const END = ['lifecycle'] as const;
/** A model is called and answers. */
export const STEP = ['llm_step.requested', 'llm_step.completed'] as const;

/** A tool is called and answers. */
export const CALL = ['tool.requested', 'tool.completed'] as const;
/** A tool is called and fails, or its call is invalid. */
export const FAILED_CALL = ['tool.requested', 'tool.failed'] as const;
/** The gate denies a call. */
export const DENIED_CALL = ['tool.requested', 'effect.denied', 'tool.failed'] as const;
/** A call waits for a person or a child, and the run with it. */
export const WAIT = ['tool.requested', 'tool.waiting', 'lifecycle'] as const;
/** A call waits for a person. */
export const PERSON_ASKED = ['tool.requested', 'human.requested', 'tool.waiting', 'lifecycle'] as const;

/** A child is made. */
export const SPAWN = ['tool.requested', 'child.spawned', 'tool.completed'] as const;
/** A call waits for a child, which ends; the run continues. */
export const CHILD_AWAITED = [...WAIT, 'child.ended', 'tool.completed', 'lifecycle'] as const;

/** The end of a run that was answered. */
export const COMPLETED: StopReason = { kind: 'Completed' };
/** The end of a cancelled run. */
export const CANCELLED: StopReason = { kind: 'Cancelled' };
