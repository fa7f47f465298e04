/**
 * The effects by which an entity has its calls judged. A reducer cannot read what its rights are, and a list of its own
 * would be out of date as soon as a right above it is taken away: so each call is an effect, which the gate judges by the
 * whole chain, and which the entity settles itself, in the same frame.
 */

import { address, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { codeOf, effectOf, planOf } from '@reprise/org/contracts';

const tool = z.string().min(1).max(64);
const group = z.string().min(1).max(128);

/** The gate says whether a tool is permitted. */
const judgedTool = () =>
  ({
    params: z.strictObject({ tool, at: address }),
    receipt: z.strictObject({}),
    guarantee: 'idempotent',
    rights: { tool: 'tool' },
    settledBy: 'at',
  }) as const;

/** `society.call@1`: whether the entity may call a tool now. */
export const societyCall = effectOf('society.call@1', judgedTool);

/** `society.group_call@1`: whether the entity may call a tool on a group now. */
export const societyGroupCall = effectOf('society.group_call@1', () => ({
  params: z.strictObject({ tool, group, at: address }),
  receipt: z.strictObject({}),
  guarantee: 'idempotent',
  rights: { tool: 'tool', group: 'group' },
  settledBy: 'at',
}));

/** `society.why@1`: whether it was the tool of a call that the gate denied. It is no call. */
export const societyWhy = effectOf('society.why@1', judgedTool);

/** `society/check_plan@1`: asks the gate whether a call may be made, and tells the entity the verdict. */
export const callCheckPlan = planOf('society/check_plan@1', () => ({
  input: z.strictObject({ call: z.string().max(64), tool, group: z.nullable(group), at: address }),
  effects: [societyCall, societyGroupCall, societyWhy],
  *run({ call, tool: named, group: of, at }, plan) {
    const effect =
      of === null
        ? plan.emitEffect(societyCall, { tool: named, at })
        : plan.emitEffect(societyGroupCall, { tool: named, group: of, at });
    const verdict = yield* plan.awaitReceipt(effect);
    const code = codeOf(verdict);
    // The gate names no dimension. Where the tool alone is permitted, it was the group (CAP-10).
    const asksWhy = of !== null && code === 'cap_denied';
    const why = () => plan.awaitReceipt(plan.emitEffect(societyWhy, { tool: named, at }));
    const isGroup = asksWhy && (yield* why()).status === 'ok';
    plan.raiseEvent({ name: 'society/Checked@1', value: { call, code, value: isGroup ? 'group' : null } });
  },
}));

/** The bytes of an answer that is kept for repetitions: an entry of a table has at most 16 KiB. */
export const COMMAND_BYTES_MAX = 12_000;

/** The tables of an entity for commands. */
export const commandTables = {
  commands: z.strictObject({
    /** What the command was: a digest of the name of its tool and its arguments. */
    digest: z.string().max(64),
    /** Null while it has none, and for one that is too large to be kept. */
    answer: z.nullable(
      z.strictObject({
        value: value(),
        refs: z.array(z.strictObject({ label: z.string().max(64), ref: ref() })).max(8),
        is_error: z.boolean(),
      }),
    ),
  }),
};

/** The answer to another call under the id of a command that was taken: it says what to do. */
export const ANOTHER_CALL = {
  code: 'duplicate_command',
  problem: 'An earlier call, of another tool or with other arguments, has this command_id. Nothing was done now.',
  hint: 'Use a new command_id for every new call. To read the answer of the earlier call, repeat its tool and arguments.',
} as const;

/** The answer to a repetition of a command whose answer is not there to be repeated. */
export const NO_ANSWER_KEPT = {
  code: 'duplicate_command',
  problem: 'This call was taken before under this command_id. It was not done again, and its answer is not kept.',
  hint: 'Read what came of it, or call again under a new command_id to have it done again.',
} as const;
