import type { PolicyRule } from '@reprise/contracts';

/** What the policy says of an effect. */
export type PolicyVerdict =
  | { readonly allow: true; readonly rule: number }
  | { readonly allow: false; readonly rule: number | null };

/**
 * Applies a world's policy: ordered rules, the first match decides, no match denies.
 *
 * @param rules as the manifest holds them
 * @param kind the effect kind
 */
export function applyPolicy(rules: readonly PolicyRule[], kind: string): PolicyVerdict {
  for (const [rule, { effect, decision }] of rules.entries()) {
    if (matches(effect, kind)) return decision === 'allow' ? { allow: true, rule } : { allow: false, rule };
  }
  return { allow: false, rule: null };
}

/** Patterns are exact, `prefix*` or `*`: small enough that one can be proven inside another. */
function matches(pattern: string, kind: string): boolean {
  return pattern.endsWith('*') ? kind.startsWith(pattern.slice(0, -1)) : pattern === kind;
}
