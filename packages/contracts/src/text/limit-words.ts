/** The limits of a run in the words of those who set them. */

/** The option that sets a recorded limit. */
const OPTIONS: Readonly<Record<string, string>> = {
  max_turns: 'turns',
  max_steps: 'steps',
  max_tool_rounds: 'toolRounds',
  max_tool_calls_per_step: 'callsPerStep',
  max_tokens: 'tokens',
  max_micro_money: 'usd',
  max_wall_ms: 'wall',
  max_depth: 'depth',
  max_children: 'children',
};

/** The limits from which a model call reserves, before it is made, what it may use at most. */
const RESERVING: ReadonlySet<string> = new Set(['max_tokens', 'max_micro_money']);

/**
 * The name of a limit, as `limits` of an agent has it; a name that is unknown is its own.
 *
 * @example limitName('max_micro_money') // 'limits.usd'
 */
export function limitName(limit: string): string {
  const option = OPTIONS[limit];
  return option === undefined ? limit : `limits.${option}`;
}

/**
 * An amount of a limit: money in dollars, times in seconds, other limits as they are.
 *
 * @param amount in the recorded unit: millionths of a dollar, milliseconds
 * @example limitAmount('max_micro_money', 1_500) // '$0.0015'
 */
export function limitAmount(limit: string, amount: number): string {
  if (limit === 'max_micro_money') return `$${amount / 1_000_000}`;
  return limit === 'max_wall_ms' ? `${amount / 1_000} s` : String(amount);
}

/** A limit that ended a run, as a sentence part; of tokens and money with the reservation, which nobody sees otherwise. */
export function limitWords(limit: string): string {
  const why = RESERVING.has(limit)
    ? ': what the next model call may use at most is reserved before it, and was not left'
    : '';
  return `${limitName(limit)}${why}`;
}
