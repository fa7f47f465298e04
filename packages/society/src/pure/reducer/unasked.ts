/**
 * Groups that an entity asks, once it was revived, whether it is still a member. One whose own cell has failed cannot say
 * so: its membership gives no rights until it has (SOC-640).
 */
import type { ReducerContext } from '@reprise/kernel/define';
import { type EntityState, groupAt, SOCIETY_BOUNDS } from '../contracts/index.js';
import { idOf, tableOf } from './entity-context.js';
import { memberTable } from './member-context.js';
import { isOfFailedCell } from './operations.js';
import { changeRights } from './rights.js';

/** Begins the tag of the question, which comes back where the group does not take it. */
export const MEMBER_TAG = 'member.';

/** Asks all groups. */
export function askGroups(ctx: ReducerContext): void {
  for (const [group] of tableOf(ctx, 'memberships').range({ limit: SOCIETY_BOUNDS.memberships })) ask(group, ctx);
}

/** Asks those again that could not say it. */
export function askGroupsAgain(ctx: ReducerContext): void {
  for (const [group] of memberTable(ctx, 'unasked').range({ limit: SOCIETY_BOUNDS.memberships })) ask(group, ctx);
}

/** A group did not take the question. */
export function groupSilent(draft: EntityState, tag: string, code: string, ctx: ReducerContext): void {
  const group = tag.slice(MEMBER_TAG.length);
  const unasked = memberTable(ctx, 'unasked');
  if (!isOfFailedCell(code) || unasked.get(group) !== undefined) return;
  changeRights(draft, ctx, () => unasked.set(group, null));
}

function ask(group: string, ctx: ReducerContext): void {
  const question = { name: 'society/AskMembership@1', value: { entity: idOf(ctx) } };
  ctx.send(groupAt(group), question, { reply: 'refusal', tag: `${MEMBER_TAG}${group}` });
}
