/**
 * Ranks in integers: the same items stand in the same order on every engine. `Math.exp` and `Math.log` may differ in their
 * last bit between engines, so the factor of a score is a table.
 */
import { SCORE_MAX, SCORE_MIN } from './names.js';

/** e to the power of score/10, in 16 bits behind the point, for the scores from −10 to 20. */
const EXP_Q16: readonly number[] = [
  24_109, 26_644, 29_447, 32_544, 35_966, 39_749, 43_930, 48_550, 53_656, 59_299, 65_536, 72_428, 80_045, 88_464,
  97_768, 108_050, 119_414, 131_973, 145_853, 161_192, 178_145, 196_881, 217_587, 240_471, 265_761, 293_711, 324_601,
  358_740, 396_469, 438_166, 484_249,
];

const DAY_MS = 86_400_000;

/** What a rank follows from. */
export interface Ranked {
  /** The score of its text: a whole number from the text index. */
  readonly text: number;
  /** Its score in the store. */
  readonly score: number;
  readonly last_used_at: number;
}

/**
 * The rank of an item: its text, weighed by its score, and halved by a hundred days without use.
 *
 * @param now in journal milliseconds
 */
export function rankOf({ text, score, last_used_at }: Ranked, now: number): number {
  const factor = EXP_Q16[Math.min(SCORE_MAX, Math.max(SCORE_MIN, score)) - SCORE_MIN] ?? 0;
  const days = Math.max(0, Math.floor((now - last_used_at) / DAY_MS));
  return Math.floor((Math.floor((text * factor) / 65_536) * 100) / (100 + days));
}

/** Items in the order of their ranks, the best first; equal ranks by their numbers. */
export function byRank(a: { readonly rank: number; readonly id: number }, b: typeof a): number {
  return b.rank - a.rank || a.id - b.id;
}
