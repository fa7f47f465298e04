/**
 * The effects by which an entity has its calls judged. A reducer cannot read what its rights are, and a list of its own
 * would be out of date as soon as a right above it is taken away: so each call is an effect, which the gate judges by the
 * whole chain, and which the entity settles itself, in the same frame.
 */

import { address } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { effectOf, planOf } from '@reprise/org/contracts';

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
    const code = verdict.status === 'ok' ? null : (verdict.code ?? verdict.status);
    // The gate names no dimension. Where the tool alone is permitted, it was the group (CAP-10).
    const asksWhy = of !== null && code === 'cap_denied';
    const why = () => plan.awaitReceipt(plan.emitEffect(societyWhy, { tool: named, at }));
    const isGroup = asksWhy && (yield* why()).status === 'ok';
    plan.raiseEvent({ name: 'society/Checked@1', value: { call, code, value: isGroup ? 'group' : null } });
  },
}));
