/** What a run may use, as people say it, and as sessions count it. */
import { MICRO, RepriseError } from '@reprise/contracts';
import { type RunLimits, runLimits } from '../contracts/config.js';
import { type Duration, durationMs } from '../tools/duration.js';

/** What a run may use. What is not said of tokens, money and time is not limited; the rest has defaults. */
export interface Limits {
  /** Inputs and steers that one run answers; 100 when not said. */
  readonly turns?: number;
  /** Model calls in one run; 50 when not said. */
  readonly steps?: number;
  /** Batches of tool calls in one run; 50 when not said. */
  readonly toolRounds?: number;
  /** Tool calls that one answer may ask for; 16 when not said. */
  readonly callsPerStep?: number;
  /** Tokens of one run, in and out, its children included. */
  readonly tokens?: number;
  /** What one run may cost, its children included. */
  readonly usd?: number;
  /** How long one run may take; time in which it waits for somebody does not count. */
  readonly wall?: Duration;
  /** How many sessions deep children may stand; 3 when not said. */
  readonly depth?: number;
  /** Children at once; 16 when not said. */
  readonly children?: number;
  /** At a limit: the run fails (the default), or waits until somebody raises the limit. */
  readonly on?: 'fail' | 'pause_and_ask';
}

/** The limits of a run that says nothing. */
export const LIMITS_DEFAULT: RunLimits = Object.freeze({
  max_turns: 100,
  max_steps: 50,
  max_tool_rounds: 50,
  max_tool_calls_per_step: 16,
  max_depth: 3,
  max_children: 16,
  on_limit: 'fail',
});

const FIELDS = {
  turns: 'max_turns',
  steps: 'max_steps',
  toolRounds: 'max_tool_rounds',
  callsPerStep: 'max_tool_calls_per_step',
  tokens: 'max_tokens',
  usd: 'max_micro_money',
  wall: 'max_wall_ms',
  depth: 'max_depth',
  children: 'max_children',
  on: 'on_limit',
} as const satisfies Record<keyof Limits, keyof RunLimits>;

/**
 * What is said of limits, as a session counts it; what is not said is absent.
 *
 * @throws RepriseError `invalid_definition` naming the limit
 */
export function saidLimits(limits: Limits, where: string): Partial<RunLimits> {
  const said: Record<string, unknown> = {};
  for (const [name, limit] of Object.entries(limits)) {
    if (limit === undefined) continue;
    const field = FIELDS[name as keyof Limits];
    if (field === undefined) throw invalid(where, name, `one of ${Object.keys(FIELDS).join(', ')}`, limit);
    said[field] = counted(name, limit, where);
  }
  const checked = runLimits.partial().safeParse(said);
  if (checked.success) return checked.data as Partial<RunLimits>;
  const field = String(checked.error.issues[0]?.path[0]);
  const name = Object.keys(FIELDS).find((one) => FIELDS[one as keyof Limits] === field) ?? field;
  throw invalid(where, name, checked.error.issues[0]?.message ?? 'a limit in range', limits[name as keyof Limits]);
}

function counted(name: string, limit: unknown, where: string): unknown {
  if (name === 'usd') return typeof limit === 'number' ? Math.round(limit * MICRO) : limit;
  return name === 'wall' ? durationMs(limit as Duration, `${where} limits.wall`) : limit;
}

function invalid(where: string, limit: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_definition', 'this is not a limit', {
    where: `${where} limits.${limit}`,
    expected,
    actual,
  });
}
