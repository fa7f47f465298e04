import * as z from '../schema/index.js';
import { actor } from './actor.js';
import { address, planAddress } from './address.js';
import { digestHex, ref, value } from './markers.js';
import { effectKind, wireName } from './names.js';
import { principal } from './principal.js';
import { RECEIPT_STATUSES, usage } from './receipt.js';
import { FAULT_CODES } from './records.js';

/** Kernel notice: an event was sent to a cell that does not exist, or that has failed. */
export const undeliverable = z.strictObject({
  to: address,
  event: wireName,
  code: z.enum(['cell_absent', 'cell_failed', 'unknown_reducer', 'event_invalid', 'faulted', 'denied']),
});

/** Kernel notice: a plan of this cell ended in error. */
export const planFailed = z.strictObject({ plan: planAddress, name: wireName, code: z.enum(FAULT_CODES) });

/** Kernel notice: a cell that this cell made has failed. It takes no events until it is revived. */
export const childFailed = z.strictObject({ cell: address, code: z.enum(FAULT_CODES) });

/**
 * Kernel notice: this cell failed of an event, and was revived. Its state is the one before that event; its plans are gone,
 * its timers are not, and nothing that was sent to it since was taken.
 */
export const revived = z.strictObject({ code: z.enum(FAULT_CODES) });

/** Kernel notice: a timer of this cell fired. */
export const timerFired = z.strictObject({ name: z.string().max(128), due: z.int().min(0) });

/** The name that a cell gave one of its events or commands, to tell its answer from the others. */
export const noticeTag = z.string().min(1).max(256);

/** Kernel notice: the answer to an event that was sent with `reply`. */
export const reply = z.strictObject({
  to: address,
  event: wireName,
  outcome: z.enum(['accepted', 'rejected']),
  code: z.exactOptional(z.string().max(96)),
  tag: z.exactOptional(noticeTag),
});

/** Kernel notice: an effect was opened that this cell settles, by `sys/Settle@1`. */
export const effectOpened = z.strictObject({
  effect: digestHex(),
  name: effectKind,
  params: value(),
  from: planAddress,
});

/** The reason why an effect waits for outside input. */
export const WAITING_FOR = ['approval', 'answer', 'settlement'] as const;

const effectId = digestHex();

/**
 * Kernel notice: an effect of a plan of this cell waits for outside input; `to` states who may act besides the
 * operator.
 */
export const effectWaiting = z.strictObject({
  effect: effectId,
  name: effectKind,
  plan: planAddress,
  for: z.enum(WAITING_FOR),
  to: z.nullable(z.string().max(256)),
});

/**
 * Kernel notice: a waiting effect of a plan of this cell continues. `by` approved it or answered its last question;
 * without it the question expired. `reason_ref` links the comment that came with an approval.
 */
export const effectGoesOn = z.strictObject({
  effect: effectId,
  name: effectKind,
  plan: planAddress,
  by: z.exactOptional(principal),
  actor: z.exactOptional(actor),
  reason_ref: z.exactOptional(ref()),
});

/** Kernel notice: an effect that was settled without its adapter received a late answer from it. */
export const effectLate = z.strictObject({
  effect: effectId,
  name: effectKind,
  plan: planAddress,
  params: value(),
  /** How it was settled, and the adapter's answer. */
  settled: z.enum(RECEIPT_STATUSES),
  status: z.enum(RECEIPT_STATUSES),
  payload: z.exactOptional(value()),
  usage: z.exactOptional(usage),
});

/** Kernel notice: a command of this cell was refused. */
export const commandRefused = z.strictObject({
  command: wireName,
  code: z.string().max(96),
  tag: z.exactOptional(noticeTag),
});

/**
 * The notices that the kernel sends to a cell: one closed union. A reducer takes a notice by naming it among its
 * events; a notice that no reducer takes becomes a `fact`, and a fault while taking one makes no further notice. The
 * notices about effects (`EffectWaiting`, `EffectGoesOn`, `EffectLate`) and about a failed cell (`ChildFailed`, `Revived`)
 * are sent only to a cell that names them, since records contain the same information.
 */
export const NOTICES = {
  'sys/EffectWaiting@1': effectWaiting,
  'sys/EffectGoesOn@1': effectGoesOn,
  'sys/EffectLate@1': effectLate,
  'sys/Undeliverable@1': undeliverable,
  'sys/PlanFailed@1': planFailed,
  'sys/ChildFailed@1': childFailed,
  'sys/Revived@1': revived,
  'sys/TimerFired@1': timerFired,
  'sys/Reply@1': reply,
  'sys/EffectOpened@1': effectOpened,
  'sys/CommandRefused@1': commandRefused,
} as const;

/** The name of a kernel notice. */
export type NoticeName = keyof typeof NOTICES;
