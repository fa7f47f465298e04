/** The limits of a run, each checked before anything is emitted, and the pressure on them. */
import type { ReducerContext } from '@reprise/kernel/define';
import type { LimitKind } from '../../contracts/config.js';
import type { CurrentRun, SessionState } from '../../contracts/state.js';
import { givenOf, usedOf } from './budget.js';

/** A reached limit: the used amount and the limit itself. */
export interface Reached {
  readonly limit: LimitKind;
  readonly used: number;
  readonly of: number;
  /** Of tokens and money: the amount set aside for children, and the amount that the next model call needs. */
  readonly set_aside?: number;
  readonly needs?: number;
}

/** How long a run has worked, in milliseconds, without the time in which it waited. */
export function workedMs(run: CurrentRun, now: number): number {
  return (run.parked_since ?? now) - run.started_at - run.waited_ms;
}

/** The run as if its waiting steers had been taken up: they are taken up only when a step may follow. */
export function asSteered({ steers }: SessionState, run: CurrentRun): CurrentRun {
  return { ...run, turns: run.turns + steers.length };
}

/** The limit that forbids another step, tokens and money aside; undefined when none does. */
export function stepLimit(run: CurrentRun, now: number): Reached | undefined {
  const { limits } = run.config;
  return first([
    { limit: 'max_turns', used: run.turns - 1, of: limits.max_turns },
    { limit: 'max_steps', used: run.tally.steps, of: limits.max_steps },
    { limit: 'max_wall_ms', used: workedMs(run, now), of: limits.max_wall_ms },
  ]);
}

/** The limit that forbids a batch of calls; undefined when none does. */
export function batchLimit(run: CurrentRun, calls: number): Reached | undefined {
  const { max_tool_rounds, max_tool_calls_per_step } = run.config.limits;
  return first([
    { limit: 'max_tool_rounds', used: run.tool_rounds, of: max_tool_rounds },
    { limit: 'max_tool_calls_per_step', used: calls - 1, of: max_tool_calls_per_step },
  ]);
}

function first(asked: readonly { limit: LimitKind; used: number; of: number | undefined }[]): Reached | undefined {
  for (const { limit, used, of } of asked) if (of !== undefined && used >= of) return { limit, used, of };
  return undefined;
}

/** The levels at which pressure on the model's window is reported, in percent. */
const WINDOW_LEVELS = [70, 85, 95] as const;

/** The levels at which pressure on the budget of a run is reported, in percent. */
const BUDGET_LEVELS = [70, 80, 95] as const;

/** A level is reported again only after the usage fell this many percent below it. */
const HYSTERESIS = 5;

/**
 * Decides what a reading of pressure reports.
 *
 * @param levels the levels in percent, the lowest first
 * @param told the highest reported level; 0 for none
 * @returns the level to report, if any, and the highest level that counts as reported from now on
 */
export function pressureOf<L extends number>(
  levels: readonly L[],
  used: number,
  of: number,
  told: number,
): { tell?: L; told: number } {
  // Both sides are whole numbers: 70 % of 10 is reached at 7.
  const at = levels.filter((level) => used * 100 >= level * of).at(-1);
  if (at !== undefined && at > told) return { tell: at, told: at };
  const kept = levels.filter((level) => level <= told && used * 100 >= (level - HYSTERESIS) * of).at(-1) ?? 0;
  return { told: kept };
}

/** Reports the pressure on the model's window after a step. */
export function tellContextPressure(
  draft: SessionState,
  reading: { readonly tokens: number; readonly by: 'usage' | 'bytes' },
  ctx: ReducerContext,
): number | undefined {
  const window = draft.run?.config.context_window ?? null;
  if (window === null || draft.run === null) return undefined;
  const { tell, told } = pressureOf(WINDOW_LEVELS, reading.tokens, window, draft.context_pressure);
  draft.context_pressure = told;
  if (tell === undefined) return undefined;
  ctx.record('aos.agent/ContextPressure@1', { run: draft.run.number, level: tell, window, ...reading });
  return tell;
}

/** Reports the pressure on the run's budget: tokens or money, whichever is nearer to its limit. */
export function tellBudgetPressure(draft: SessionState, ctx: ReducerContext): number | undefined {
  const { run } = draft;
  if (run === null) return undefined;
  const readings = [
    { limit: 'max_tokens' as const, used: usedOf(run, 'tokens'), of: givenOf(run, 'tokens') },
    { limit: 'max_micro_money' as const, used: usedOf(run, 'micro_money'), of: givenOf(run, 'micro_money') },
  ].flatMap(({ limit, used, of }) => (of === undefined ? [] : [{ limit, used, of }]));
  const told = run.budget_pressure;
  let kept = 0;
  let highest:
    | { tell: (typeof BUDGET_LEVELS)[number]; limit: 'max_tokens' | 'max_micro_money'; used: number; of: number }
    | undefined;
  for (const reading of readings) {
    const { tell, told: now } = pressureOf(BUDGET_LEVELS, reading.used, reading.of, told);
    kept = Math.max(kept, now);
    if (tell !== undefined && tell > (highest?.tell ?? 0)) highest = { tell, ...reading };
  }
  run.budget_pressure = kept;
  if (highest === undefined) return undefined;
  const { tell, limit, used, of } = highest;
  ctx.record('aos.agent/BudgetPressure@1', { run: run.number, level: tell, limit, used, of });
  return tell;
}
