/**
 * Fails when a law does not hold, and shows with what. Thrown and not expected: the long forms run without a test
 * runner, and an `expect` in a loop takes longer than what it judges.
 *
 * @param law as a sentence
 * @param shown what it does not hold for
 */
export function must(holds: boolean, law: string, ...shown: readonly unknown[]): asserts holds {
  if (!holds) throw new Error(`${law}: ${shown.map((one) => JSON.stringify(one)).join(', ')}`);
}
