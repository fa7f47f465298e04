/** The adapter port: the only code that touches the outside. Suite: `testAdapter` of the testkit. */
import type { FailureCode, Usage, Value } from '@reprise/contracts';
import type { ContentStore } from '../content/port.js';
import type { EffectDefinition } from '../define/effect.js';

/** What an adapter answers. The kernel makes the receipt of it. */
export type Outcome<P = Value> =
  | { readonly status: 'ok'; readonly payload: P; readonly usage?: Usage }
  | { readonly status: 'error'; readonly code: FailureCode; readonly retryable?: boolean; readonly usage?: Usage }
  | { readonly status: 'timeout'; readonly code?: FailureCode; readonly usage?: Usage }
  | { readonly status: 'cancelled'; readonly usage?: Usage }
  | { readonly status: 'outcome_unknown'; readonly usage?: Usage };

/** What an adapter is told besides its parameters. */
export interface AdapterContext {
  /** The effect's id; also the idempotency key to hand to the outside. 64 hex digits. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** When the kernel will give up, in journal milliseconds; null when it will not. */
  readonly deadline: number | null;
  /** Aborted on cancel, deadline and shutdown. */
  readonly signal: AbortSignal;
  /** The world's content store: read inputs, put outputs. */
  readonly content: ContentStore;
  /** Telemetry for watchers of this process; never journaled, never read by pure code. */
  progress(note: Value): void;
  /** The value of a secret by name; what it returns must not be stored. */
  secret(name: string): Promise<string>;
}

/** What a `reconcile` effect's adapter says after a crash. Only `cannot_happen` permits another attempt. */
export type Reconciliation<P = Value> =
  | { readonly verdict: 'happened'; readonly outcome: Outcome<P> }
  | { readonly verdict: 'cannot_happen' }
  | { readonly verdict: 'unknown' };

/**
 * Performs one kind of effect.
 *
 * @typeParam I the effect's parameters
 * @typeParam P the effect's receipt payload
 */
export interface Adapter<I = Value, P = Value> {
  /** The effect it performs; the pure definition lives with the contracts. */
  readonly effect: EffectDefinition<I, P>;
  /** The adapter's name, as receipts show it. */
  readonly name: string;
  /** How many may run at once: a whole number from 1; default 8. */
  readonly concurrency?: number;
  /**
   * Performs the effect once.
   *
   * Contract: answers outside failures as an outcome and throws only on its own defects (which become
   * `adapter_error`); stops soon after `signal` aborts; everything it puts is durable before its receipt is.
   */
  doExecute(params: I, context: AdapterContext): Promise<Outcome<P>>;
  /**
   * Asks the outside whether an interrupted attempt happened. Required for delivery `reconcile`. What takes longer
   * than half a minute, and `happened` without an outcome, count as `unknown`.
   */
  doReconcile?(params: I, context: AdapterContext): Promise<Reconciliation<P>>;
}

/** An adapter with its types closed over, as a world takes it. */
// biome-ignore lint/suspicious/noExplicitAny: the world checks params and payload against the effect's schemas at run time
export type AnyAdapter = Adapter<any, any>;
