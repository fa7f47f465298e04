/** Calls that the owner of a session answers: the cell that made it. */
import { ANSWER_CALLS_MAX, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';

const count = z.int().min(0);
const callId = z.string().min(1).max(128);

/** The canonical bytes of an answer's value. */
export const OWNER_VALUE_BYTES_MAX = 4 * 1024;

/** How many links one answer has. */
export const OWNER_REFS_MAX = 8;

/** The code of a call that no owner takes. */
export const NO_OWNER = 'tool_args_invalid/no_owner';

/** The code of a call that the gate does not let through to the owner. */
export const OWNER_UNREACHABLE = 'policy_denied/unreachable';

/** The code of a call whose owner has failed. */
const OWNER_FAILED = 'adapter_error/cell_failed';

/** Why an owner does not answer, by the code of the kernel's answer to the call. */
export function refusalOfOwner(code: string): string {
  if (code.startsWith('policy_denied') || code.startsWith('cap_denied')) return OWNER_UNREACHABLE;
  return code === 'cell_failed' || code === 'faulted' ? OWNER_FAILED : NO_OWNER;
}

/** Begins the ids of the calls that a program makes during its turn. */
export const TURN_CALL = 'x.';

/** The name of an owner tool. */
const toolName = z.string().min(1).max(64);

/** The place of a call: its session, and the step whose answer requested it. */
const place = { session: z.string().min(1).max(256), call_id: callId, step_epoch: count };

/** `aos.agent/OwnerCall@1`: a session passes a call of its model to its owner. */
export const ownerCall = z.strictObject({ ...place, name: toolName, args: value() });

/** A call that the owner answers. */
export type OwnerCall = z.infer<typeof ownerCall>;

/**
 * `aos.agent/OwnerCalls@1`: a session passes calls that it takes up together, in their order. An owner that lists this event
 * is sent it for more than one call, and any other owner one `aos.agent/OwnerCall@1` for each.
 */
export const ownerCalls = z.strictObject({
  session: place.session,
  step_epoch: count,
  calls: z
    .array(z.strictObject({ call_id: callId, name: toolName, args: value() }))
    .min(1)
    .max(ANSWER_CALLS_MAX),
});

/** Calls that the owner answers. */
export type OwnerCalls = z.infer<typeof ownerCalls>;

/** What an owner answers: a value of at most 4 KiB, and links whose content a model is shown in part. */
export const ownerReply = z.strictObject({
  value: value(),
  refs: z.array(z.strictObject({ label: z.string().max(64), ref: ref() })).max(OWNER_REFS_MAX),
});

/** The answer of an owner to a call of its tool. */
export type OwnerReply = z.infer<typeof ownerReply>;

/** `aos.agent/OwnerAnswer@1`: the owner answers a call. */
export const ownerAnswer = z.strictObject({ ...place, ...ownerReply.shape, is_error: z.boolean() });

/** The answer to an owner call. */
export type OwnerAnswer = z.infer<typeof ownerAnswer>;

/** `aos.agent/OwnerAnswers@1`: the owner answers several calls of one step. They share the bound of an event's value. */
export const ownerAnswers = z.strictObject({
  session: place.session,
  step_epoch: count,
  answers: z
    .array(z.strictObject({ call_id: callId, ...ownerReply.shape, is_error: z.boolean() }))
    .min(1)
    .max(ANSWER_CALLS_MAX),
});

/** The answers to several owner calls. */
export type OwnerAnswers = z.infer<typeof ownerAnswers>;

/** `aos.agent/OwnerParked@1`: the owner says that a call waits for a person or another agent. */
export const ownerParked = z.strictObject(place);

/** An owner call that waits. */
export type OwnerParked = z.infer<typeof ownerParked>;

/** `aos.agent/OwnerCalled@1`: a program calls the owner of its session, during its turn. */
export const ownerCalled = z.strictObject({
  call_id: z
    .string()
    .min(1)
    .max(128 - TURN_CALL.length),
  name: toolName,
  args: value(),
});

/** A call of a program. */
export type OwnerCalled = z.infer<typeof ownerCalled>;

/** Fact: a call of a program was answered. */
export const ownerAnswered = z.strictObject({ call_id: callId, ...ownerReply.shape, is_error: z.boolean() });

/** An open call of a program: an entry of the table `turn_calls`. */
export const turnCall = z.strictObject({ call_id: callId, plan: count, step_epoch: count });

/** An open call of a program. */
export type TurnCall = z.infer<typeof turnCall>;
