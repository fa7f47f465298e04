/** The limits of a run, as authors write them and as sessions count them. */
import { hintOf, isFields, kindOfThing, MICRO, RepriseError } from '@reprise/contracts';
import { type RunLimits, runLimits } from '../contracts/config.js';
import { type Duration, durationMs } from '../contracts/duration.js';

/** The limits of a run. Absent limits of tokens, money and time do not apply; the others have defaults. */
export interface Limits {
  /** How many inputs and steers one run answers; 100 when absent. */
  readonly turns?: number;
  /** How many model calls one run makes; 50 when absent. */
  readonly steps?: number;
  /** How many batches of tool calls one run makes; 50 when absent. */
  readonly toolRounds?: number;
  /** How many tool calls one answer may request; 16 when absent. */
  readonly callsPerStep?: number;
  /** Tokens of one run, input and output, its children included. */
  readonly tokens?: number;
  /** The cost of one run in dollars, its children included. */
  readonly usd?: number;
  /** The duration of one run; time in which it waits for a person does not count. */
  readonly wall?: Duration;
  /** How many levels of child sessions may exist; 3 when absent. */
  readonly depth?: number;
  /** How many children may be open at once; 16 when absent. */
  readonly children?: number;
  /** At a limit the run fails (`fail`, the default), or waits until an operator raises the limit (`pause_and_ask`). */
  readonly on?: 'fail' | 'pause_and_ask';
}

/** The default limits of a run. */
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

/** The values that each limit may have, in words. */
const RANGES: Readonly<Record<keyof Limits, string>> = {
  turns: 'a whole number from 1 to 100000',
  steps: 'a whole number from 1 to 100000',
  toolRounds: 'a whole number from 1 to 100000',
  callsPerStep: 'a whole number from 1 to 64',
  tokens: 'a whole number from 1',
  usd: 'an amount in dollars, above 0',
  wall: "a duration, such as '10m'",
  depth: 'a whole number from 0 to 16',
  children: 'a whole number from 0 to 64',
  on: "'fail' or 'pause_and_ask'",
};

/** What other libraries call a limit. */
const ELSEWHERE = { maxSteps: 'steps', maxTurns: 'turns', maxTokens: 'tokens', budget: 'usd', timeout: 'wall' };

/**
 * Converts the stated limits to recorded units; absent limits stay absent.
 *
 * @throws RepriseError `invalid_definition` naming the limit
 */
export function saidLimits(limits: Limits, where: string): Partial<RunLimits> {
  if (!isFields(limits))
    throw wrongLimit(where, { expected: 'limits by name, such as { steps: 10, usd: 0.5 }', actual: limits });
  const said: Record<string, unknown> = {};
  for (const [name, limit] of Object.entries(limits)) {
    if (limit === undefined) continue;
    const field = FIELDS[name as keyof Limits];
    if (field === undefined) throw unknownLimit(where, name);
    said[field] = counted(name, limit, where);
  }
  const checked = runLimits.partial().safeParse(said);
  if (checked.success) return checked.data as Partial<RunLimits>;
  const field = String(checked.error.issues[0]?.path[0]);
  const name = Object.keys(FIELDS).find((one) => FIELDS[one as keyof Limits] === field) ?? field;
  throw wrongLimit(where, {
    name,
    expected: RANGES[name as keyof Limits] ?? 'a limit',
    actual: limits[name as keyof Limits],
  });
}

function counted(name: string, limit: unknown, where: string): unknown {
  if (name === 'usd') return typeof limit === 'number' ? Math.round(limit * MICRO) : limit;
  return name === 'wall' ? durationMs(limit as Duration, `${where} limits.wall`) : limit;
}

function unknownLimit(where: string, name: string): RepriseError {
  return new RepriseError('invalid_definition', `unknown limit "${name}"`, {
    where: `${where} limits`,
    expected: Object.keys(FIELDS).join(', '),
    actual: name,
    ...hintOf(name, FIELDS, ELSEWHERE),
  });
}

function wrongLimit(
  where: string,
  { name, expected, actual }: { readonly name?: string; readonly expected: string; readonly actual: unknown },
): RepriseError {
  const isNumber = typeof actual === 'string' && actual.trim() !== '' && Number.isFinite(Number(actual));
  return new RepriseError('invalid_definition', name === undefined ? 'invalid limits' : `invalid limit "${name}"`, {
    where: name === undefined ? `${where} limits` : `${where} limits.${name}`,
    expected,
    actual: kindOfThing(actual),
    ...(isNumber ? { hint: 'Write the number without quotes; `Number(text)` makes one of a text.' } : {}),
  });
}
