import * as z from 'zod';
import { pattern } from './authority.js';

/** Who is meant; cells when it is not said: a rule about what cells do of themselves does not bind the host. */
const who = z.exactOptional(pattern);

/** A rule about effects: `effect` is a pattern of kinds. `to` says who may approve; `human:*` when it is not said. */
export const effectRule = z.strictObject({
  effect: pattern,
  who,
  decision: z.enum(['allow', 'deny', 'require_approval']),
  to: z.exactOptional(pattern),
});

/** A rule about events: `send` is a pattern of `reducer/key#event`. */
export const sendRule = z.strictObject({ send: pattern, who, decision: z.enum(['allow', 'deny']) });

/** A rule about who may decide, answer and settle what waits for the outside: `settle` is a pattern of effect kinds. */
export const settleRule = z.strictObject({ settle: pattern, who, decision: z.enum(['allow', 'deny']) });

/** A rule about reading: `read` is a pattern of `reducer/key`. */
export const readRule = z.strictObject({ read: pattern, who, decision: z.enum(['allow', 'deny']) });

/**
 * A rule about erasing content: `erase` is a pattern of `reducer/key`; content that is named by itself, and not by the
 * cell it belongs to, is under `*` alone. Without a rule only the host erases.
 */
export const eraseRule = z.strictObject({ erase: pattern, who, decision: z.enum(['allow', 'deny']) });

/** A policy rule. Of the rules about an act the first that matches decides. */
export const policyRule = z.union([effectRule, sendRule, settleRule, readRule, eraseRule]);

/** A policy rule. Of the rules about an act the first that matches decides. */
export type PolicyRule = z.infer<typeof policyRule>;
