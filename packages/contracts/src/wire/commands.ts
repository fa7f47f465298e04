/**
 * The commands of the kernel, sent from outside or by a cell: one closed union. A command is idempotent and can be
 * refused like a request to a cell, and passes the same gate.
 */

import * as z from '../schema/index.js';
import { actor } from './actor.js';
import { amounts, capability, pattern } from './authority.js';
import { failureCode } from './failure.js';
import { digestHex, ref, value } from './markers.js';
import { principal } from './principal.js';
import { usage } from './receipt.js';

const hex = digestHex();
/** The name of an account: visible ASCII. */
export const accountName = z
  .string()
  .regex(/^[!-~]+$/)
  .max(128);

/** A remembered approval: a pattern of effect kinds, and when it ends; null until it is taken back. */
export const remembered = z.tuple([pattern, z.nullable(z.int().min(0))]);

/** A hold: its granter, what it permits, and the generation of the granter (0 for the operator). */
export const hold = z.tuple([principal, capability, z.int().min(0)]);

/** The outcome of an effect, reported by a principal other than its adapter. */
export const settlement = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('ok'), payload: value(), usage: z.exactOptional(usage) }),
  z.strictObject({
    status: z.literal('error'),
    code: failureCode,
    retryable: z.exactOptional(z.boolean()),
    usage: z.exactOptional(usage),
  }),
]);

/** The outcome of an effect, reported by a principal other than its adapter. */
export type Settlement = z.infer<typeof settlement>;

/**
 * Who decides, and why. The principal of a command says whose rights count; the actor says who acted. The reason is
 * text in content: it belongs to the command, so a command that comes too late leaves no reason.
 */
const decided = { reason_ref: z.exactOptional(ref()), actor: z.exactOptional(actor) } as const;

/** Settles an effect that waits for outside input. */
export const settleCommand = z.strictObject({ effect: hex, outcome: settlement, ...decided });

/** The decision about an effect that waits for approval. `params` are edited parameters. */
export const decision = z.union([
  z.strictObject({
    approve: z.literal(true),
    params: z.exactOptional(value()),
    /**
     * Approves this kind for this cell from now on, until the given time or, with null, until the approval is taken
     * back.
     */
    remember: z.exactOptional(z.strictObject({ until: z.nullable(z.int().min(0)) })),
  }),
  z.strictObject({ approve: z.literal(false) }),
]);

/** The decision about an effect that waits for approval. */
export type EffectDecision = z.infer<typeof decision>;

/** Decides about an effect that waits for approval; `digest` names the parameters that were shown. */
export const decideCommand = z.strictObject({ effect: hex, digest: z.exactOptional(hex), decision, ...decided });

/** Answers a question that the adapter of a running effect asked. */
export const answerCommand = z.strictObject({
  effect: hex,
  n: z.int().min(0),
  answer: value(),
  actor: z.exactOptional(actor),
});

/** Cancels an effect: one that has not started is settled now; a running one is stopped and has `graceMs` to answer. */
export const cancelCommand = z.strictObject({
  effect: hex,
  graceMs: z.exactOptional(z.int().min(0)),
  actor: z.exactOptional(actor),
});

/**
 * Sets the rights that a holder has and may grant. Absent `exercise` and `grant` stay as they are, null means not
 * narrowed. When `revision` is given, it must be the current one, so a decision on outdated rights is refused.
 */
export const setRightsCommand = z.strictObject({
  holder: principal,
  exercise: z.exactOptional(z.nullable(capability)),
  grant: z.exactOptional(z.nullable(capability)),
  account: z.exactOptional(z.nullable(accountName)),
  /** All kinds whose approval is remembered. */
  approved: z.exactOptional(z.array(remembered).max(256)),
  revision: z.exactOptional(z.int().min(0)),
  /**
   * Of a cell only: what a side says beyond what the cell may set is cut off, dimension by dimension, where the change
   * would be refused otherwise. A dimension that does not grow keeps what it says.
   */
  excess: z.exactOptional(z.literal('cut')),
  /**
   * A hold of the principal on a cell, by itself: both sides of the cell are met with it, until its granter, a cell above
   * the granter or the operator lifts it with null. It needs no revision. Only a cell above the holder and the operator
   * set one.
   */
  hold: z.exactOptional(z.nullable(capability)),
  /** With `hold: null`: the granter of the hold that is lifted; absent for the principal's own. */
  granter: z.exactOptional(principal),
});

/** Makes an account, or changes its limits. Spent and reserved amounts stay. */
export const setAccountCommand = z.strictObject({
  account: accountName,
  parent: z.nullable(accountName),
  limits: amounts,
});

/** The schemas of the kernel's commands, by wire name. */
export const KERNEL_COMMANDS = {
  'sys/Settle@1': settleCommand,
  'sys/Decide@1': decideCommand,
  'sys/Answer@1': answerCommand,
  'sys/Cancel@1': cancelCommand,
  'sys/SetRights@1': setRightsCommand,
  'sys/SetAccount@1': setAccountCommand,
} as const;

/** The name of a command. */
export type CommandName = keyof typeof KERNEL_COMMANDS;

/** A command on the wire: its name and its value. */
export const kernelCommand = z.discriminatedUnion('name', [
  z.strictObject({ name: z.literal('sys/Settle@1'), value: settleCommand }),
  z.strictObject({ name: z.literal('sys/Decide@1'), value: decideCommand }),
  z.strictObject({ name: z.literal('sys/Answer@1'), value: answerCommand }),
  z.strictObject({ name: z.literal('sys/Cancel@1'), value: cancelCommand }),
  z.strictObject({ name: z.literal('sys/SetRights@1'), value: setRightsCommand }),
  z.strictObject({ name: z.literal('sys/SetAccount@1'), value: setAccountCommand }),
]);

/** A command on the wire. */
export type KernelCommand = z.infer<typeof kernelCommand>;

/** The value of a command, by the command's name. */
export type CommandValue<N extends CommandName> = Extract<KernelCommand, { name: N }>['value'];
