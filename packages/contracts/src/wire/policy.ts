import * as z from '../schema/index.js';
import { pattern } from './authority.js';

/** The principals that a rule applies to; cells when absent, so a rule about cells does not bind the operator. */
const who = z.exactOptional(pattern);

/** A rule about effects: `effect` is a pattern of kinds. `to` states who may approve; `human:*` when absent. */
export const effectRule = z.strictObject({
  effect: pattern,
  who,
  decision: z.enum(['allow', 'deny', 'require_approval']),
  to: z.exactOptional(pattern),
});

/** A rule about events: `send` is a pattern of `reducer/key#event`. */
export const sendRule = z.strictObject({ send: pattern, who, decision: z.enum(['allow', 'deny']) });

/** A rule about who may decide, answer and settle pending items: `settle` is a pattern of effect kinds. */
export const settleRule = z.strictObject({ settle: pattern, who, decision: z.enum(['allow', 'deny']) });

/** A rule about reading: `read` is a pattern of `reducer/key`. */
export const readRule = z.strictObject({ read: pattern, who, decision: z.enum(['allow', 'deny']) });

/**
 * A rule about erasing content: `erase` is a pattern of `reducer/key`; content that is named by its digest, and not by
 * its cell, matches `*` only. Without a rule only the operator erases.
 */
export const eraseRule = z.strictObject({ erase: pattern, who, decision: z.enum(['allow', 'deny']) });

/** A policy rule. The first rule that matches an act decides. */
export const policyRule = z.union([effectRule, sendRule, settleRule, readRule, eraseRule]);

/** A policy rule. The first rule that matches an act decides. */
export type PolicyRule = z.infer<typeof policyRule>;

/**
 * Whether a rule about events can match none: what is sent is named `reducer/key#event`, so a pattern that names no event
 * has to end with a star.
 *
 * @example matchesNoEvent({ send: 'flow/Queue@1/mail', decision: 'allow' }) // true
 */
export function matchesNoEvent(rule: PolicyRule): boolean {
  return 'send' in rule && !rule.send.includes('#') && !rule.send.endsWith('*');
}
