/** The adapter port: the only code that touches the outside. Suite: `testAdapter` of the testkit. */
import type { Capability, FailureCode, Observed, Principal, Ref, Usage, Value } from '@reprise/contracts';
import type { EffectDefinition } from '../../pure/define/effect.js';
import type { ContentStore } from '../content/port.js';
import type { Scrubber } from '../scrub/index.js';

/**
 * The result of an adapter. The kernel makes the receipt of it. What the adapter observed stands in any outcome, or was
 * stated by `observe` before; an observation that does not fit a receipt is left out.
 */
export type AdapterOutcome<P = Value> = Observed & Outcome<P>;

type Outcome<P> =
  | { readonly status: 'ok'; readonly payload: P; readonly usage?: Usage }
  | ({ readonly status: 'error'; readonly code: FailureCode; readonly retryable?: boolean } & Unsuccessful)
  | ({ readonly status: 'timeout'; readonly code?: FailureCode } & Unsuccessful)
  | ({ readonly status: 'cancelled' } & Unsuccessful)
  | ({ readonly status: 'outcome_unknown' } & Unsuccessful);

interface Unsuccessful {
  readonly usage?: Usage;
  /**
   * The error, for operators: an error or a text. `onError` of the world gets it unchanged, and its text is stored,
   * without secrets, behind `error_ref` of the receipt. No plan and no model reads it.
   */
  readonly error?: unknown;
}

/**
 * The result of an adapter when a person, a webhook or a batch will finish the effect. The effect is parked, frees its
 * slot, outlives the process, and is never executed again. `world.settle` ends it.
 */
export interface Deferred {
  readonly status: 'deferred';
  /** When it expires as `timeout`, in journal milliseconds; its own deadline counts as well. */
  readonly expires?: number;
  /** The principals that may settle it besides the operator, as a pattern; people when absent. */
  readonly to?: string;
}

/** Makes a deferred outcome: another party will finish the effect. */
export function deferEffect(options: Omit<Deferred, 'status'> = {}): Deferred {
  return { status: 'deferred', ...options };
}

/** A question to a person or another system, asked while the effect runs. */
export interface EffectQuestion {
  /** What to show: a canonical value, for example `{ text, choices }`. */
  readonly question: Value;
  /** The principals that may answer besides the operator, as a pattern; people when absent. */
  readonly to?: string;
  /** When the question expires, in journal milliseconds. */
  readonly expires?: number;
}

/** The end of a question. */
export type QuestionAnswer =
  | { readonly how: 'answered'; readonly by: Principal; readonly value: Value }
  /** No answer came in time. */
  | { readonly how: 'expired' }
  /** The effect was settled or told to stop, or the world closes. */
  | { readonly how: 'cancelled' };

/** What an adapter gets besides its parameters. */
export interface AdapterContext {
  /** The effect's id; also the idempotency key to send to the service. 64 hex digits. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /**
   * A fencing token: the number of the opening that executes the effect, on a store that another process can take over.
   * A service that refuses a lower number than it has seen for the world is not reached twice by a process that was
   * stopped after it had started the effect. Absent on a store with a lock.
   */
  readonly epoch?: number;
  /** When the kernel will give up, in journal milliseconds; null for never. */
  readonly deadline: number | null;
  /**
   * The principal that approved this effect; absent where nobody was asked, as with a remembered approval, and where an
   * adapter is called directly.
   */
  readonly approvedBy?: Principal;
  /** Aborted on cancel, deadline and shutdown, with an `AbortError`. */
  readonly signal: AbortSignal;
  /** The world's content store: read inputs, put outputs. */
  readonly content: ContentStore;
  /**
   * Stands for the open world: the same object for all its executions, and for no other world. A key for what an adapter
   * keeps of the world's content, which it keeps no longer than `content.erasedThrough()` stays the same. Absent where an
   * adapter is called directly.
   */
  readonly scope?: object;
  /**
   * States what this execution knows of itself, such as whom it asks, before it knows its outcome: it stands on its
   * receipt, also on one that the kernel makes because the adapter throws or exceeds its deadline. A later statement
   * replaces an earlier one field by field. Never throws. Absent where an adapter is called directly.
   */
  observe?(observed: Observed): void;
  /** The time of the world, in journal milliseconds. Absent where an adapter is called directly. */
  now?(): number;
  /** Telemetry for watchers of this process; never journaled, never read by pure code. */
  progress(note: Value): void;
  /** The current rights of the effect's cell: storage filters by these, not by the request. */
  rights(): Promise<Capability>;
  /**
   * Asks a question and waits for the answer. Both are journaled. An adapter that runs again after a crash and asks
   * the same questions in the same order gets the same answers.
   *
   * @throws RepriseError `bound_exceeded`, `invalid_value`
   */
  ask(question: EffectQuestion): Promise<QuestionAnswer>;
  /** The value of a secret by name. It is concealed: see `scrubber`. */
  secret(name: string): Promise<string>;
  /**
   * Removes the secrets of this world from what an adapter puts, notes, asks, answers and throws. Conceal a value that
   * is sent out and did not come from `secret` before it is sent. Scrub a text before it is cut: half of a secret is
   * not found. Absent where an adapter is called directly.
   */
  readonly scrubber?: Scrubber;
  /**
   * Whether the content stored under a link differs from what this execution put, because a secret was removed: then the
   * link does not stand for the original bytes. Absent where an adapter is called directly.
   */
  wasScrubbed?(ref: Ref): boolean;
  /**
   * Reports an error to `onError` of the world, as it was thrown. Never throws. When the effect does not end as `ok`,
   * the last reported error counts as its error, as if it stood in the outcome. Absent where an adapter is called
   * directly.
   */
  report?(error: unknown): void;
  /**
   * Says that a service outside fails, such as the server of a model: it stands in `world.trouble()` until
   * `serviceWorks`. The first failure that the adapter meets again by itself is reported to `onError` at once, and one
   * a minute later. Never throws. Absent where an adapter is called directly.
   *
   * @param service the name under which operators know it, for example a host
   */
  serviceFails?(service: string, failure: ServiceFailure): void;
  /**
   * Says that the author's code has returned, and the rest is the adapter's own: what that code left waiting is no longer
   * refused as `waits_for_itself`. Absent where an adapter is called directly.
   */
  returned?(): void;
  /** Says that a service works. Never throws. Absent where an adapter is called directly. */
  serviceWorks?(service: string): void;
}

/** How a service fails, as an adapter reports it through its context. */
export interface ServiceFailure {
  /** The code of the failure, such as `rate_limited`. */
  readonly code: string;
  /** The error behind it, as it was thrown. */
  readonly error?: unknown;
  /** Whether the adapter goes on by itself, so that its effect stays open. */
  readonly again: boolean;
}

/** The verdict of a `reconcile` effect's adapter after a crash. Only `cannot_happen` permits another attempt. */
export type Reconciliation<P = Value> =
  | { readonly verdict: 'happened'; readonly outcome: AdapterOutcome<P> }
  | { readonly verdict: 'cannot_happen' }
  | { readonly verdict: 'unknown' };

/**
 * Executes one kind of effect.
 *
 * @typeParam I the effect's parameters
 * @typeParam P the effect's receipt payload
 */
export interface Adapter<I = Value, P = Value> {
  /** The effect it executes; its pure definition is part of the contracts. */
  readonly effect: EffectDefinition<I, P>;
  /** The adapter's name, shown in receipts. */
  readonly name: string;
  /** How many may run at once: a whole number from 1; default 8. */
  readonly concurrency?: number;
  /**
   * Executes the effect once.
   *
   * Contract: returns failures of the service as an outcome and throws only on its own defects (which become
   * `adapter_error`); stops soon after `signal` aborts; everything it puts is durable before its receipt is.
   */
  doExecute(params: I, context: AdapterContext): Promise<AdapterOutcome<P> | Deferred>;
  /**
   * Asks the service whether an interrupted attempt happened. Required for the guarantee `reconcile`. An answer that
   * takes longer than half a minute, and `happened` without an outcome, count as `unknown`.
   */
  doReconcile?(params: I, context: AdapterContext): Promise<Reconciliation<P>>;
}

/** An adapter with its types closed over, as a world takes it. */
// biome-ignore lint/suspicious/noExplicitAny: the world checks params and payload against the effect's schemas at run time
export type AnyAdapter = Adapter<any, any>;

/**
 * An adapter whose parameters and payload are typed by the effect that it executes.
 *
 * @example
 * const pay = adapterOf(payEffect, {
 *   name: 'bank.pay',
 *   doExecute: async ({ cents }, { idempotencyKey }) => ({ status: 'ok', payload: { id: await bank.pay(cents, idempotencyKey) } }),
 * })
 */
export function adapterOf<I, P>(effect: EffectDefinition<I, P>, adapter: Omit<Adapter<I, P>, 'effect'>): Adapter<I, P> {
  return { effect, ...adapter };
}
