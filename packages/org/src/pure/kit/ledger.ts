/**
 * What runs use of a budget: a share is set aside before a run begins, as the limit of its session; at its end what it used
 * is counted and the share is given back. So what was used and what is set aside never exceed the budget together.
 *
 * Use that nobody reported counts as the whole share: a budget must hold also when a provider says nothing.
 */
import { type Adopted, mayBeCharged, type Tally } from '@reprise/agent/contracts';
import * as z from '@reprise/contracts/schema';

/** What was used: tokens, input and output, and money in millionths of a dollar. */
export const used = z.strictObject({ tokens: z.int().min(0), micro_money: z.int().min(0) });

/** What was used, in both units; money in millionths of a dollar. */
export type Used = Readonly<z.infer<typeof used>>;

/** A budget, or what is set aside of one, in its unit. */
export const share = z.strictObject({ unit: z.enum(['tokens', 'micro_money']), amount: z.int().min(1) });

/** A budget, or what is set aside of one, in its unit. */
export type Share = Readonly<z.infer<typeof share>>;

/** The use of a run that used nothing. */
export const UNUSED: Used = { tokens: 0, micro_money: 0 };

/**
 * What a run used.
 *
 * @param tally what its session reports; null when nothing was heard of it
 * @param aside what was set aside for it; null where no budget bounds it: then only reported use counts
 * @param code why it ended; empty when it ended well
 */
export function usedBy(tally: Tally | null, aside: Share | null, code: string): Used {
  const { tokens_in = 0, tokens_out = 0, micro_money = 0 } = tally ?? {};
  const reported = { tokens: tokens_in + tokens_out, micro_money };
  if (aside === null || !isUnreported(tally, reported, code)) return reported;
  return { ...reported, [aside.unit]: Math.max(reported[aside.unit], aside.amount) };
}

/** Whether a run may have used more than its session reports. A model call that was refused has used nothing. */
function isUnreported(tally: Tally | null, { tokens }: Used, code: string): boolean {
  if (tally === null || UNDER_WAY.some((start) => code.startsWith(start))) return true;
  return tally.steps > 0 && tokens === 0 && mayBeCharged(code);
}

/** The codes of runs that ended while a model call was under way. */
const UNDER_WAY = ['outcome_unknown', 'adapter_timeout', 'limit/max_wall_ms'];

/** The sum of two uses, unit by unit. */
export function usedTogether(a: Used, b: Used): Used {
  return { tokens: a.tokens + b.tokens, micro_money: a.micro_money + b.micro_money };
}

/** The limit of a session that its share sets. */
export function limitOf({ unit }: Pick<Share, 'unit'>): 'max_tokens' | 'max_micro_money' {
  return unit === 'tokens' ? 'max_tokens' : 'max_micro_money';
}

/** The limits of a run that an owner lowers. */
type OwnersLimits = Pick<Adopted['config']['limits'], 'max_tokens' | 'max_micro_money' | 'max_wall_ms'>;

/** A definition with these limits, where they are lower than its own. */
export function withinLimits(adopted: Adopted, lower: OwnersLimits): Adopted {
  const limits = { ...adopted.config.limits };
  for (const kind of ['max_tokens', 'max_micro_money', 'max_wall_ms'] as const) {
    const bound = lower[kind];
    if (bound !== undefined) limits[kind] = Math.min(bound, limits[kind] ?? bound);
  }
  return { ...adopted, config: { ...adopted.config, limits } };
}
