/** The works of an agent for its swarm that have not ended. */
import type { ReducerContext, Table } from '@reprise/kernel/define';
import { pauseWork, reportWork, resumeWork, stopWork } from '@reprise/work/contracts';

/** Keeps a work that has begun. */
export function keepWork(n: number, ctx: ReducerContext): void {
  worksOf(ctx).set(key(n), null);
}

/** Forgets a work that has ended. */
export function endWork(n: number, ctx: ReducerContext): void {
  worksOf(ctx).delete(key(n));
}

/** Stops what the agent works on: it is deactivated. */
export function stopWorks(ctx: ReducerContext): void {
  for (const [at] of worksOf(ctx).range()) stopWork(ctx, Number(at), 'agent_deactivated');
}

/** Has what the agent works on say how it stands: this cell was revived, and may have missed its end. */
export function reportWorks(ctx: ReducerContext): void {
  for (const [at] of worksOf(ctx).range()) reportWork(ctx, Number(at));
}

/** Has what the agent works on stand still, or go on: nothing of it is cancelled (SOC-36). */
export function pauseWorks(ctx: ReducerContext): void {
  for (const [at] of worksOf(ctx).range()) pauseWork(ctx, Number(at));
}

/** Lets what the agent works on go on. */
export function resumeWorks(ctx: ReducerContext): void {
  for (const [at] of worksOf(ctx).range()) resumeWork(ctx, Number(at));
}

function worksOf(ctx: ReducerContext): Table<null> {
  return ctx.table('works');
}

/** The digits of the numbers in the table of works: jobs are found by them, see `job`. */
export const WORK_DIGITS = 7;

function key(n: number): string {
  return String(n).padStart(WORK_DIGITS, '0');
}
