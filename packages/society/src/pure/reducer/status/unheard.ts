/**
 * Narrowings and ends of agents whose cells have failed: the kernel holds the agent to them, and it is asked for them again
 * once it is revived, by each entity above in the order of its calls. What it then carries out itself it is no longer held to
 * (holds/L2).
 *
 * Invariants
 * U1  An agent is asked for the next one when it has answered the one before, which may wait for its maker. Until then it is
 *     held to all that it was not asked for. What two entities ask for waits in the agent: neither refuses the other.
 * U2  An agent whose cell fails while it is asked has answered nothing: it is asked again once it is revived.
 */

import { allRows } from '@reprise/kernel/define';
import { key } from '@reprise/org/contracts';
import { entityAt } from '../../contracts/cell/names.js';
import { argsOf, type Row } from '../../contracts/entity-parts.js';
import type { EntityContext } from '../context/entity.js';

export function keepUnheard(
  { call, name, about, args, actor }: Row<'unheard'> & { readonly about: string },
  ctx: EntityContext,
): void {
  const last = unheardOf(about, ctx).at(-1)?.[0] ?? `${about}.0`;
  const n = Number(last.slice(about.length + 1)) + 1;
  // The revision that a narrowing was stated for was not asked, and is not later.
  const { expected_revision: _, ...change } = argsOf({ args }, 'agent_capabilities');
  ctx
    .table('unheard')
    .set(`${about}.${key(n)}`, { call, name, args: name === 'agent_deactivate' ? args : change, actor });
}

/** Asks an agent that was revived for the first that it did not hear (U1). @param depth of this entity */
export function askUnheard(agent: string, depth: number, ctx: EntityContext): void {
  const [first] = unheardOf(agent, ctx);
  if (first === undefined) return;
  const [, { call, name, args, actor }] = first;
  const value = { call, depth, name, args, actor, bytes: ANSWER_BYTES, missed: true };
  ctx.send(entityAt(agent), { name: 'society/Ask@1', value });
}

/** Asks all agents again: this entity had failed, and may have missed that they were revived. */
export function askAllUnheard(depth: number, ctx: EntityContext): void {
  const agents = new Set([...allRows(ctx.table('unheard'))].map(([key]) => key.slice(0, key.lastIndexOf('.'))));
  for (const agent of agents) askUnheard(agent, depth, ctx);
}

/** The agent was removed: nothing is asked of it any more. */
export function dropUnheard(agent: string, ctx: EntityContext): void {
  for (const [key] of unheardOf(agent, ctx)) ctx.table('unheard').delete(key);
}

/** What an agent did not hear, in the order of the calls. */
export function stillUnheard(agent: string, ctx: EntityContext): readonly Row<'unheard'>[] {
  return unheardOf(agent, ctx).map(([, row]) => row);
}

/** Whether an agent is still to be asked for a call. */
export function isUnheard(agent: string, call: string, ctx: EntityContext): boolean {
  return unheardOf(agent, ctx).some(([, row]) => row.call === call);
}

/** The agent has answered: it heard the call. @returns what was asked; undefined for another call */
export function takeUnheard(agent: string, call: string, ctx: EntityContext): Row<'unheard'> | undefined {
  const found = unheardOf(agent, ctx).find(([, row]) => row.call === call);
  if (found === undefined) return undefined;
  ctx.table('unheard').delete(found[0]);
  return found[1];
}

/** The room for an answer that nobody reads. */
const ANSWER_BYTES = 3_500;

function unheardOf(agent: string, ctx: EntityContext): readonly (readonly [string, Row<'unheard'>])[] {
  return [...allRows(ctx.table('unheard'), { from: `${agent}.`, before: `${agent}/` })];
}
