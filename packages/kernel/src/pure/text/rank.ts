/**
 * Ranking in integers: BM25 with k1 = 1.2 and b = 0.75, so that every engine puts the same documents in the same order.
 *
 * `Math.log` may differ in its last bit between engines; sums of such numbers order close documents differently. Here
 * the logarithm is made of products alone and cut to 16 bits, and all else is integers below 2^53.
 */

/** The largest count of a word in one document: more occurrences add nothing, and the products stay bounded. */
const TERM_COUNT_MAX = 64;

/** The largest length of a document for ranking, in words: bounds the products. */
const LENGTH_MAX = 1_048_576;

/** The largest average length, in sixteenths of a word: bounds the products. */
const AVERAGE_MAX = 1_048_576;

/** ln 2 in 16 bits behind the point. */
const LN2_Q16 = 45_426;

/**
 * The natural logarithm of a fraction of at least 1, in 16 bits behind the point. One squaring for each bit; a product
 * and a quotient of two numbers are the same on every engine.
 */
export function lnQ16(numerator: number, denominator: number): number {
  let x = numerator / denominator;
  let bits = 0;
  for (; x >= 2; x /= 2) bits += 1;
  for (let i = 0; i < 16; i++) {
    x *= x;
    bits *= 2;
    if (x >= 2) {
      x /= 2;
      bits += 1;
    }
  }
  return Math.floor((bits * LN2_Q16) / 65_536);
}

/** The weight of a word that `containing` of `documents` contain, in 16 bits behind the point. */
export function rarity(documents: number, containing: number): number {
  return lnQ16(2 * documents + 2, 2 * containing + 1);
}

/** The average length of a document, in sixteenths of a word. */
export function averageLength(words: number, documents: number): number {
  return documents === 0 ? 1 : Math.min(AVERAGE_MAX, Math.max(1, Math.floor((16 * words) / documents)));
}

/**
 * The share of one word in a document's rank.
 *
 * @param weight the word's {@link rarity}
 * @param count the number of times that the document has it
 * @param length the document's words
 * @param average the {@link averageLength}
 */
export function scoreOf(weight: number, count: number, length: number, average: number): number {
  const tf = Math.min(count, TERM_COUNT_MAX);
  const words = Math.min(length, LENGTH_MAX);
  // count · (k1 + 1) / (count + k1 · (1 − b + b · length / average)), both sides times 20 · average
  return Math.floor((weight * 44 * tf * average) / (20 * tf * average + 6 * average + 288 * words));
}
