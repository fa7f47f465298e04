/** The tier of an exact fraction, in rational arithmetic of its own. */
export function exactTier(right: bigint, all: bigint): 'untrusted' | 'low' | 'medium' | 'high' {
  const below = (n: bigint, d: bigint) => right * d < n * all;
  if (below(3n, 10n)) return 'untrusted';
  if (below(6n, 10n)) return 'low';
  return right * 100n > 85n * all ? 'high' : 'medium';
}
