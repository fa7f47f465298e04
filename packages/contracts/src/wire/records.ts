/**
 * The journal's records.
 *
 * A frame is the list `[ingress, …derived, …attempts, state]`: one input from outside and everything that follows from
 * it, in order. It is the atom of append, refusal, replay and time travel.
 *
 * Invariants
 * R1  Replay reads the ingress record and the riding attempts; it regenerates everything else and compares.
 * R2  `c` of a derived record is the index, in its frame, of the record whose delivery produced it.
 * R3  The last record is always `state`: what changed in the leaves and follows from no other record. So the records
 *     determine every leaf, and a changed reducer is caught in the frame where it first changes anything.
 */

import * as z from '../schema/index.js';
import { actor } from './actor.js';
import { address, planAddress } from './address.js';
import { account, amounts, capability, pattern } from './authority.js';
import { accountName, hold, kernelCommand, remembered } from './commands.js';
import { failureCode } from './failure.js';
import { bytes, digestHex, ref, value } from './markers.js';
import { effectKind, wireName } from './names.js';
import { policyRule } from './policy.js';
import { principal } from './principal.js';
import { GUARANTEES, RECEIPT_STATUSES, receipt } from './receipt.js';
import { traceParent } from './trace-parent.js';

/** The version of the rules that turn an ingress into derived records. Any change to derived bytes raises it. */
export const KERNEL_SEMANTICS = 6;

/** The longest idempotency key of a request, in characters. */
export const REQUEST_ID_MAX = 256;

const count = z.int().min(0);
const requestId = z.string().min(1).max(REQUEST_ID_MAX);
const hex = digestHex();

/** The fields of every ingress record: the frame's number, its time in milliseconds and its principal. */
const stamps = { seq: count, at: z.int().min(0), principal };

/** An event on the wire: its name and its value. */
export const eventEnvelope = z.strictObject({ name: wireName, value: value() });

/** An event on the wire: its name and its value. */
export type EventEnvelope = z.infer<typeof eventEnvelope>;

/** The reserve of an effect, and its account; every account above it reserves the same. */
export const reserved = z.strictObject({ account: z.string().max(128), amounts });

/** The reserve of an effect. */
export type Reserved = z.infer<typeof reserved>;

/** A definition as the manifest pins it: its name and the digest of its schemas. */
export const pinned = z.strictObject({ name: z.string().max(128), digest: hex });

/** A definition as the manifest pins it. */
export type Pinned = z.infer<typeof pinned>;

/** Ingress: opens an era. Frame 0 of every world is one. */
export const manifestRecord = z.strictObject({
  kind: z.literal('manifest'),
  ...stamps,
  world: hex,
  seed: hex,
  semantics: z.int().min(1),
  reducers: z.array(pinned),
  plans: z.array(pinned),
  effects: z.array(pinned),
  policy: z.array(policyRule),
  /** Names with another digest than in the era before, which was replayed with both. */
  compatible: z.exactOptional(z.array(z.string().max(128))),
  /** Plans that the app no longer has: they end here. */
  cancels: z.exactOptional(z.array(planAddress)),
  /** The pure code of the era as content, so that the era can be replayed where the app is not available. */
  code: z.exactOptional(ref()),
});

/**
 * Ingress: an outside request to a cell; `id` makes it idempotent. `actor` says who acted, where that does not follow
 * from the principal; `traceparent` the span of another system behind which it came. No reducer sees that one.
 */
export const requestRecord = z.strictObject({
  kind: z.literal('request'),
  ...stamps,
  id: requestId,
  to: address,
  event: eventEnvelope,
  actor: z.exactOptional(actor),
  traceparent: z.exactOptional(traceParent),
});

/** Ingress: a principal sends a command to the kernel itself; `id` makes it idempotent. */
export const commandRecord = z.strictObject({
  kind: z.literal('command'),
  ...stamps,
  id: requestId,
  command: kernelCommand,
});

/**
 * Ingress: the outcome of an effect. `unanswered`: the kernel settles it while its adapter still works and may answer
 * later. `quarantined`: folding it exhausted the machine, so it only settles. `recorded`: in a dry fork, the id of the
 * original effect whose receipt this is.
 */
export const receiptRecord = z.strictObject({
  kind: z.literal('receipt'),
  ...stamps,
  effect: hex,
  attempt: count,
  receipt,
  unanswered: z.exactOptional(z.literal(true)),
  quarantined: z.exactOptional(z.literal(true)),
  recorded: z.exactOptional(hex),
});

/** Ingress: a timer that was due at `due`. `plan` is the ordinal when it is the deadline of a plan's await. */
export const timerRecord = z.strictObject({
  kind: z.literal('timer'),
  ...stamps,
  cell: address,
  plan: z.nullable(count),
  name: z.string().max(128),
  due: z.int().min(0),
  quarantined: z.exactOptional(z.literal(true)),
});

/** Ingress: an effect is armed. Durable before an at-most-once effect starts. */
export const attemptRecord = z.strictObject({
  kind: z.literal('attempt'),
  ...stamps,
  effect: hex,
  attempt: z.int().min(1),
});

/**
 * Ingress: an adapter has started work that an outside party will finish. The effect is parked until it is settled from
 * outside or `expires`; `to` states who may settle it besides the operator.
 */
export const deferredRecord = z.strictObject({
  kind: z.literal('deferred'),
  ...stamps,
  effect: hex,
  attempt: z.int().min(1),
  expires: z.nullable(z.int().min(0)),
  to: z.nullable(pattern),
});

/** Ingress: the adapter of a running effect asks a question; `n` counts the questions of the effect. */
export const askRecord = z.strictObject({
  kind: z.literal('ask'),
  ...stamps,
  effect: hex,
  attempt: z.int().min(1),
  n: count,
  question: value(),
  expires: z.nullable(z.int().min(0)),
  to: z.nullable(pattern),
});

/** Ingress: the canonical map of all leaves was written; opening starts here. */
export const snapshotRecord = z.strictObject({ kind: z.literal('snapshot'), ...stamps, root: ref(), leaves: count });

/** Ingress: the rest of a cascade that would not fit one frame. No other frame comes between. */
export const continueRecord = z.strictObject({
  kind: z.literal('continue'),
  ...stamps,
  quarantined: z.exactOptional(z.literal(true)),
});

/**
 * Ingress: an operator confirmed a wall clock that the world would not follow by itself. The frame has the old time in
 * `at`; later frames are stamped from `wall`.
 */
export const clockRecord = z.strictObject({ kind: z.literal('clock'), ...stamps, wall: count });

/** How many digests one `erase` record may name: about 650 KB, so that the record fits a frame. */
export const ERASE_DIGESTS_MAX = 10_000;

/**
 * Ingress: a tombstone. The content with these digests is erased for good; the request named it by its digests, or as
 * the content that only one cell links. The record holds digests and not links, so that it keeps no content alive.
 */
export const eraseRecord = z.strictObject({
  kind: z.literal('erase'),
  ...stamps,
  id: requestId,
  cell: z.nullable(address),
  subtree: z.boolean(),
  digests: z.array(hex).max(ERASE_DIGESTS_MAX),
  reason: z.exactOptional(z.string().max(256)),
});

/** What a fork may do outside: nothing, or only what it is explicitly permitted. */
export const FORK_MODES = ['dry', 'live'] as const;

/** What a fork may do outside: nothing, or only what it is explicitly permitted. */
export type ForkMode = (typeof FORK_MODES)[number];

/** The origin of a fork: the frame before its first own one. */
export const forkOrigin = z.strictObject({ world: hex, seq: count, head: hex });

/** The rights of a holder as they stood at the head of the world that was forked. */
export const inheritedRights = z.strictObject({
  exercise: z.nullable(capability),
  grant: z.nullable(capability),
  account: z.nullable(accountName),
  approved: z.array(remembered),
  holds: z.exactOptional(z.array(hold).min(1)),
  reach: z.exactOptional(z.array(z.enum(['exercise', 'grant'])).min(1)),
  inc: z.exactOptional(z.int().min(1)),
});

/** The rights of a holder as they stood at the head of the world that was forked. */
export type InheritedRights = z.infer<typeof inheritedRights>;

/** An effect that is open at the cut, and its settlement in the fork. */
export const forkSettlement = z.tuple([hex, receipt]);

/** A holder, and its rights at the head of the original. */
export const forkRights = z.tuple([principal, inheritedRights]);

/** An account, and its amounts in the fork; nothing is reserved there. */
export const forkAccount = z.tuple([accountName, account]);

/**
 * Ingress: a fork begins. The new world shares all earlier frames with the original. The record settles every open
 * effect. Decisions of the original after the cut that a fork must not undo are carried along: rights and accounts as
 * they stood at its head.
 */
export const forkRecord = z.strictObject({
  kind: z.literal('fork'),
  ...stamps,
  /** The id of the new world. */
  world: hex,
  from: forkOrigin,
  mode: z.enum(FORK_MODES),
  /** The worlds whose effects after the cut have recorded receipts, of a dry fork. */
  origins: z.array(hex),
  /** Every effect that is open at the cut, and its settlement here. */
  settled: z.array(forkSettlement),
  /** Of a live fork: no principal's rights exceed these. */
  rights: z.array(forkRights),
  /** Of a live fork: the limits of its accounts, and the least amounts that count as spent. */
  accounts: z.array(forkAccount),
  /** The most rights of the root of all authority; absent when it is not narrowed. */
  root: z.exactOptional(capability),
  /** Of a dry fork: the receipts of the original after the cut, as content. */
  recorded: z.nullable(ref()),
});

/** The first record of a frame: the only kind of record that replay reads as input. */
export const ingressRecord = z.discriminatedUnion('kind', [
  manifestRecord,
  requestRecord,
  commandRecord,
  receiptRecord,
  timerRecord,
  attemptRecord,
  deferredRecord,
  askRecord,
  snapshotRecord,
  continueRecord,
  clockRecord,
  eraseRecord,
  forkRecord,
]);

/** The sender of an event: a cell, a plan of a cell, or the kernel (null). */
export const sender = z.nullable(z.union([address, planAddress]));

/** The sender of an event. */
export type Sender = z.infer<typeof sender>;

/** Derived: an event on its way to a cell of this world. */
export const eventRecord = z.strictObject({
  kind: z.literal('event'),
  c: count,
  to: address,
  event: eventEnvelope,
  from: sender,
});

/** Derived: a reducer's intent, which starts a plan. */
export const intentRecord = z.strictObject({
  kind: z.literal('intent'),
  c: count,
  plan: planAddress,
  name: wireName,
  input: value(),
});

/**
 * Derived: a plan's effect that the gate allowed. `rule` is the policy rule's index, `grant` the digest of the rights
 * that permitted it (in a world that has granted any), `approval` states who may approve it when it waits for approval,
 * `reserved` is its reserve and account.
 */
export const effectRecord = z.strictObject({
  kind: z.literal('effect'),
  c: count,
  effect: hex,
  plan: planAddress,
  emission: count,
  name: effectKind,
  params: value(),
  guarantee: z.enum(GUARANTEES),
  rule: count,
  deadline: z.nullable(z.int().min(0)),
  grant: z.exactOptional(hex),
  approval: z.exactOptional(pattern),
  reserved: z.exactOptional(reserved),
});

/** Derived: an effect of a plan, or an event from a cell, that the gate refused. */
export const denialRecord = z.strictObject({
  kind: z.literal('denial'),
  c: count,
  /** The principal that would have acted. */
  who: principal,
  /** The effect's kind, or the event as `reducer/key#event`. */
  what: z.string().max(600),
  /** Present when it was an effect. */
  effect: z.exactOptional(hex),
  code: failureCode,
  rule: z.nullable(count),
});

/** The cause that settled an effect inside a frame; a receipt that is an ingress has no such record. */
export const SETTLERS = ['gate', 'cancel', 'revoked', 'expired', 'command', 'cell', 'fork'] as const;

/** Derived: an effect was settled inside the frame. */
export const settledRecord = z.strictObject({
  kind: z.literal('settled'),
  c: count,
  effect: hex,
  status: z.enum(RECEIPT_STATUSES),
  code: z.nullable(z.string().max(96)),
  by: z.enum(SETTLERS),
});

/** Derived: a late outcome of an effect that was already settled. It changes the spent amounts, and nothing else. */
export const lateRecord = z.strictObject({
  kind: z.literal('late'),
  c: count,
  effect: hex,
  /** The outcome that the adapter reported too late. */
  status: z.enum(RECEIPT_STATUSES),
  /** How the effect was settled before. */
  settled: z.enum(RECEIPT_STATUSES),
});

/** Derived: a fact for readers outside, recorded by a reducer (or by the kernel: a notice that no reducer takes). */
export const factRecord = z.strictObject({
  kind: z.literal('fact'),
  c: count,
  from: sender,
  name: wireName,
  value: value(),
});

/** Why a delivery was dropped. The text of an engine error never enters, since it differs between engines. */
export const FAULT_CODES = [
  'threw',
  'nondeterminism',
  'returned_a_value',
  'state_invalid',
  'state_too_large',
  'event_invalid',
  'event_unknown',
  'fact_invalid',
  'intent_invalid',
  'plan_unknown',
  'effect_unknown',
  'value_invalid',
  'record_too_large',
  'plan_awaits_exceeded',
  'plan_too_large',
  'cascade_exceeded',
  'timer_invalid',
  'log_unknown',
  'table_unknown',
  'migration_failed',
  'exhausted',
] as const;

/** Why a delivery was dropped. */
export type FaultCode = (typeof FAULT_CODES)[number];

/** Derived: a delivery that was dropped; it stands in place of the delivery's own records. */
export const faultRecord = z.strictObject({
  kind: z.literal('fault'),
  c: count,
  target: z.union([address, planAddress]),
  code: z.enum(FAULT_CODES),
});

/** A derived record: a plan has ended, with its result or its error. */
export const planEndedRecord = z.strictObject({
  kind: z.literal('plan_ended'),
  c: count,
  plan: planAddress,
  status: z.enum(['ok', 'error', 'cancelled']),
  code: z.nullable(z.enum(FAULT_CODES)),
});

/** A riding attempt: arms an effect in the very frame that emitted it. */
export const ridingAttempt = z.strictObject({ kind: z.literal('attempt'), effect: hex, attempt: z.int().min(1) });

/** Derived: a cell's command to the kernel; when it is refused, a denial follows. */
export const cellCommandRecord = z.strictObject({
  kind: z.literal('cell_command'),
  c: count,
  from: address,
  command: kernelCommand,
});

/**
 * One touched leaf: its key and its changed fields, as far as no other record states them: `[value]` when small, the
 * digest of the value when large, `[]` when removed. Null in their place: the leaf is gone.
 */
export const touchedLeaf = z.tuple([
  z.array(value()),
  z.nullable(z.record(z.string(), z.union([bytes(), z.array(value())]))),
]);

/** Last record of every frame: what the frame did to the state. */
export const stateRecord = z.strictObject({ kind: z.literal('state'), leaves: z.array(touchedLeaf) });

/** A record that follows from the ingress; replay regenerates it and never reads it as input. */
export const derivedRecord = z.discriminatedUnion('kind', [
  eventRecord,
  intentRecord,
  effectRecord,
  denialRecord,
  settledRecord,
  lateRecord,
  factRecord,
  faultRecord,
  planEndedRecord,
  cellCommandRecord,
]);

/** The first record of a frame. */
export type IngressRecord = z.infer<typeof ingressRecord>;
/** The ingress record of one kind. */
export type IngressOf<K extends IngressRecord['kind']> = Extract<IngressRecord, { kind: K }>;
/** A record that follows from the ingress. */
export type DerivedRecord = z.infer<typeof derivedRecord>;
/** The derived record of one kind. */
export type DerivedOf<K extends DerivedRecord['kind']> = Extract<DerivedRecord, { kind: K }>;
/** An attempt that rides in the frame which emitted its effect. */
export type RidingAttempt = z.infer<typeof ridingAttempt>;
/** The last record of every frame. */
export type StateRecord = z.infer<typeof stateRecord>;
/** Any record of a frame. */
export type JournalRecord = IngressRecord | DerivedRecord | RidingAttempt | StateRecord;
