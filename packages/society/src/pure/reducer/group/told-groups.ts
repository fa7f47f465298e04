/**
 * What a member tells its groups: of its items, its status and its verdicts. What a group does not take because its cell has
 * failed is kept, as far as it takes to say it again, and told once the group is revived: the group tells its members then
 * that they are members.
 *
 * Invariants
 * T1  Of one group it is told in the order in which it was said; what is told again and not taken is kept again.
 * T2  Nothing is kept for a group that the entity has left.
 */

import { present } from '@reprise/contracts';
import { allRows, type ReducerContext } from '@reprise/kernel/define';
import { beginRound, key, someRows } from '@reprise/org/contracts';
import { type AgentStatus, GROUP, type Tier } from '../../contracts/cell/names.js';
import { isOfFailedCell } from '../call/operations.js';
import { type Replied, refusedTo } from '../call/replies.js';
import { type EntityContext, idOf } from '../context/entity.js';

/** Something that a member tells a group, as the tag of it says it again: whose item, a status, or a verdict on another. */
type Said =
  | readonly ['item', item_id: string, by: string | null, type: string]
  | readonly ['status', old: AgentStatus, now: AgentStatus]
  | readonly ['verdict', about: string, old_score: number, new_score: number, tier: Tier, told: boolean];

/** Tells a group something, and remembers it until the group has heard. */
export function tellGroup(group: string, said: Said, ctx: EntityContext): void {
  ctx.send([GROUP, group], eventOf(said, ctx), refusedTo('said', said.join(BETWEEN)));
}

/** A group did not take what it was told. It is kept while the cell of the group has failed. */
export function keepUntold(note: string, { to: [, group], code }: Replied, ctx: EntityContext): void {
  if (!isOfFailedCell(code)) return;
  const untold = ctx.table('untold');
  const n = (untold.get(group)?.n ?? 0) + 1;
  untold.set(group, { n, note: '' });
  untold.set(`${group} ${key(n)}`, { n, note });
}

/** The group has been revived: it is told what it has missed. */
export function tellUntold(group: string, ctx: EntityContext): void {
  if (ctx.table('untold').get(group) !== undefined)
    beginRound(ctx, `untold ${group}`, () => tellSomeUntold(group, ctx));
}

export function tellSomeUntold(group: string, ctx: EntityContext): string | undefined {
  const untold = ctx.table('untold');
  const last = someRows(untold, { ...untoldOf(group) }, (key, { note }) => {
    untold.delete(key);
    tellGroup(group, saidIn(note), ctx);
  });
  if (last === undefined) untold.delete(group);
  return last;
}

function untoldOf(group: string) {
  return { from: `${group} `, before: `${group}!` };
}

/** The entity has left the group (T2). */
export function dropUntold(group: string, ctx: EntityContext): void {
  const untold = ctx.table('untold');
  untold.delete(group);
  for (const [key] of allRows(untold, untoldOf(group))) untold.delete(key);
}

/** What a group hears of something that a member says. */
export function eventOf(
  said: Said,
  ctx: Pick<ReducerContext, 'address'>,
): { readonly name: string; readonly value: object } {
  switch (said[0]) {
    case 'item': {
      const [, item_id, by, type] = said;
      return { name: 'society/Wrote@1', value: { item_id, type, ...present({ of: by ?? undefined }) } };
    }
    case 'status': {
      const [, old_status, new_status] = said;
      const payload = { agent_id: idOf(ctx), old_status, new_status };
      return { name: 'society/GroupNews@1', value: { event: 'agent.status_changed', payload } };
    }
    default: {
      const [, about, old_score, new_score, tier, told] = said;
      const payload = { agent_id: about, old_score, new_score };
      return { name: 'society/Verdict@1', value: { about, payload, tier, told } };
    }
  }
}

const BETWEEN = '\n';

/** Reads a tag again. What is a text of others stands last. */
function saidIn(note: string): Said {
  const [of, first = '', second = '', ...rest] = note.split(BETWEEN);
  if (of === 'item') return [of, first, second === '' ? null : second, rest.join(BETWEEN)];
  if (of === 'status') return [of, first as AgentStatus, second as AgentStatus];
  const [score, tier, told] = rest;
  return ['verdict', first, Number(second), Number(score), tier as Tier, told === 'true'];
}
