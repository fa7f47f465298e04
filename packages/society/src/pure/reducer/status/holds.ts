/**
 * Holds of this cell on agents below it: what it cuts from them in the kernel itself, whatever state their cells are in.
 *
 * Invariants
 * L1  A deactivation holds its agent in the delivery that takes the judged call; a narrowing does so for an agent whose cell
 *     is known to have failed, and else as soon as the kernel says that it has: a change that a living agent refuses makes
 *     nothing (CAP-2).
 * L2  What the agent's own cell carries out itself is lifted in the same cascade; the rest stays, also when the cell is revived.
 */

import { type Capability, type Patterns, present, type Value } from '@reprise/contracts';
import { EVERYTHING, leq, meet } from '@reprise/kernel/authority';
import type { ReducerContext } from '@reprise/kernel/define';
import { compileBound, NO_RIGHTS } from '../../compile/index.js';
import { formatHolder } from '../../contracts/cell/names.js';
import { argsOf, type Row } from '../../contracts/entity-parts.js';
import type { MakerContext } from '../context/entity.js';
import { recorded } from '../rights/recorded.js';

/** What a call takes from the agent that it is about. */
export interface Cut {
  readonly ended: boolean;
  /** What is left at most; everything where nothing is narrowed. */
  readonly left: Capability;
}

const UNHELD: Row<'holds'> = { ended: false, narrowed: null };

/** What a call takes from an agent; undefined for a call that takes nothing. */
export function cutOf(name: string, args: Value, { now }: Pick<ReducerContext, 'now'>): Cut | undefined {
  if (name === 'agent_deactivate') return { ended: true, left: EVERYTHING };
  if (name !== 'agent_capabilities') return undefined;
  const { capabilities = {}, grant = {} } = argsOf({ args }, 'agent_capabilities');
  const left = either(compileBound(capabilities, now), compileBound(grant, now));
  return leq(EVERYTHING, left) ? undefined : { ended: false, left };
}

export function heldBy(ctx: MakerContext, agent: string): Row<'holds'> {
  return ctx.table('holds').get(agent) ?? UNHELD;
}

/** A hold with what a call takes besides. */
export function cutFurther({ ended, narrowed }: Row<'holds'>, cut: Cut): Row<'holds'> {
  const met = narrowed === null ? cut.left : meet(narrowed, cut.left);
  const isWhole = cut.ended && narrowed === null;
  return { ended: ended || cut.ended, narrowed: isWhole ? null : recorded(met) };
}

/** A hold without what the agent's own cell has carried out itself. */
export function carriedOut({ ended, narrowed }: Row<'holds'>, cut: Cut): Row<'holds'> {
  if (cut.ended) return { ended: false, narrowed };
  if (narrowed === null) return { ended, narrowed };
  const { expires_at, max_parallel } = narrowed;
  const may = Object.entries(narrowed.may).filter(([dimension]) => cut.left.may[dimension] === undefined);
  const rest = present({
    may: Object.fromEntries(may),
    expires_at: cut.left.expires_at === undefined ? expires_at : undefined,
    max_parallel: cut.left.max_parallel === undefined ? max_parallel : undefined,
  });
  return { ended, narrowed: leq(EVERYTHING, rest) ? null : recorded(rest) };
}

/** Holds an agent in the kernel, or lifts what this cell holds it to. */
export function holdNow(agent: string, hold: Row<'holds'>, ctx: MakerContext, tag?: string): void {
  const capability = hold.ended ? recorded(NO_RIGHTS) : hold.narrowed;
  const change = { holder: formatHolder(agent), hold: capability };
  ctx.command('sys/SetRights@1', change, tag === undefined ? {} : { tag });
}

/** Keeps what this cell holds an agent to, and holds it so. */
export function keepHold(agent: string, hold: Row<'holds'>, ctx: MakerContext): void {
  if (hold.ended || hold.narrowed !== null) ctx.table('holds').set(agent, hold);
  else ctx.table('holds').delete(agent);
  holdNow(agent, hold, ctx);
}

/** The agent was removed: what it is held to stays in the kernel alone. */
export function dropHold(agent: string, ctx: MakerContext): void {
  ctx.table('holds').delete(agent);
}

/** The agent's own cell says that it was removed: it is held to nothing any more. */
export function removedItself(agent: string, ctx: MakerContext): void {
  dropHold(agent, ctx);
  holdNow(agent, UNHELD, ctx);
}

/** The agent's own cell says that it has ended: it is no longer held to that. */
export function endedItself(agent: string, ctx: MakerContext): void {
  const hold = heldBy(ctx, agent);
  if (hold.ended) keepHold(agent, { ...hold, ended: false }, ctx);
}

/**
 * A hold counts for what the agent uses and for what it hands on: of a dimension that the changes of both narrow, it leaves
 * what either leaves.
 */
function either(one: Capability, other: Capability): Capability {
  const may: Record<string, Patterns> = { ...one.may, ...other.may };
  for (const [dimension, patterns] of Object.entries(one.may)) {
    const more = other.may[dimension];
    if (more !== undefined) may[dimension] = [...patterns, ...more];
  }
  const expires_at = later(one.expires_at, other.expires_at);
  return present({ may, expires_at, max_parallel: later(one.max_parallel, other.max_parallel) });
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
