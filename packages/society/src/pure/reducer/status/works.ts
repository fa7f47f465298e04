/** The works of an agent for its swarm that have not ended. */

import { allRows } from '@reprise/kernel/define';
import { key } from '@reprise/org/contracts';
import type { EntityContext } from '../context/entity.js';

export function keepWork(n: number, ctx: EntityContext): void {
  ctx.table('works').set(key(n), null);
}

export function endWork(n: number, ctx: EntityContext): void {
  ctx.table('works').delete(key(n));
}

/** Does something with each work: stops it, has it stand still (nothing is cancelled, SOC-36), go on, or say how it stands. */
export function eachWork(ctx: EntityContext, act: (ctx: EntityContext, n: number) => void): void {
  for (const [at] of allRows(ctx.table('works'))) act(ctx, Number(at));
}
