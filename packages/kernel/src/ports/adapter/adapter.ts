/** The adapter port: the only code that touches the outside. Suite: `testAdapter` of the testkit. */
import type { Capability, FailureCode, Principal, Ref, Usage, Value } from '@reprise/contracts';
import type { EffectDefinition } from '../../pure/define/effect.js';
import type { ContentStore } from '../content/port.js';
import type { Scrubber } from '../scrub/index.js';

/** What an adapter answers. The kernel makes the receipt of it. */
export type AdapterOutcome<P = Value> =
  | { readonly status: 'ok'; readonly payload: P; readonly usage?: Usage }
  | ({ readonly status: 'error'; readonly code: FailureCode; readonly retryable?: boolean } & Unsuccessful)
  | ({ readonly status: 'timeout'; readonly code?: FailureCode } & Unsuccessful)
  | ({ readonly status: 'cancelled' } & Unsuccessful)
  | ({ readonly status: 'outcome_unknown' } & Unsuccessful);

interface Unsuccessful {
  readonly usage?: Usage;
  /**
   * What went wrong, for operators: an error or a text. `onError` of the world gets it unchanged, and its text is
   * kept, without secrets, behind `error_ref` of the receipt. No plan and no model reads it.
   */
  readonly error?: unknown;
}

/**
 * An adapter's answer when somebody else will finish the effect: a person, a webhook, a batch. The effect is parked,
 * frees its place, outlives the process, and is never replayed. `world.settle` ends it.
 */
export interface Deferred {
  readonly status: 'deferred';
  /** When it is given up as `timeout`, in journal milliseconds; its own deadline counts as well. */
  readonly expires?: number;
  /** Who besides the host may settle it, as a pattern of principals; people when absent. */
  readonly to?: string;
}

/** Says that somebody else will finish the effect. */
export function deferEffect(options: Omit<Deferred, 'status'> = {}): Deferred {
  return { status: 'deferred', ...options };
}

/** A question to somebody outside, asked while the effect runs. */
export interface EffectQuestion {
  /** What to show: a canonical value, for example `{ text, choices }`. */
  readonly question: Value;
  /** Who besides the host may answer, as a pattern of principals; people when absent. */
  readonly to?: string;
  /** When nobody needs to answer any more, in journal milliseconds. */
  readonly expires?: number;
}

/** How a question ended. */
export type QuestionAnswer =
  | { readonly how: 'answered'; readonly by: Principal; readonly value: Value }
  /** Nobody answered in time. */
  | { readonly how: 'expired' }
  /** The effect was settled or told to stop, or the world closes. */
  | { readonly how: 'cancelled' };

/** What an adapter is told besides its parameters. */
export interface AdapterContext {
  /** The effect's id; also the idempotency key to hand to the outside. 64 hex digits. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** When the kernel will give up, in journal milliseconds; null when it will not. */
  readonly deadline: number | null;
  /** Aborted on cancel, deadline and shutdown, with an `AbortError`. */
  readonly signal: AbortSignal;
  /** The world's content store: read inputs, put outputs. */
  readonly content: ContentStore;
  /** Telemetry for watchers of this process; never journaled, never read by pure code. */
  progress(note: Value): void;
  /** What the effect's cell may do now: storage filters by this, not by what was asked for. */
  rights(): Promise<Capability>;
  /**
   * Asks somebody outside and waits for the answer. Question and answer are journaled. An adapter that is run again
   * after a crash and asks the same questions in the same order gets the answers that were given.
   *
   * @throws RepriseError `bound_exceeded`, `invalid_value`
   */
  ask(question: EffectQuestion): Promise<QuestionAnswer>;
  /** The value of a secret by name. It is concealed: see `scrubber`. */
  secret(name: string): Promise<string>;
  /**
   * Removes the secrets of this world from what an adapter puts, notes, asks, answers and throws. Conceal what is sent
   * to the outside and did not come from `secret` before it is sent. Scrub a text before it is cut: half of a secret is
   * not found. Absent where an adapter is called by hand.
   */
  readonly scrubber?: Scrubber;
  /**
   * Whether what this execution put under a link is not what it gave: a secret was taken out of it, so it cannot stand
   * for what it was made of. Absent where an adapter is called by hand.
   */
  wasScrubbed?(ref: Ref): boolean;
  /**
   * Tells `onError` of the world what went wrong, as it was thrown. Never throws. When the effect does not end as `ok`,
   * the last one that was reported is its error, as if it stood in the outcome. Absent where an adapter is called by
   * hand.
   */
  report?(error: unknown): void;
}

/** What a `reconcile` effect's adapter says after a crash. Only `cannot_happen` permits another attempt. */
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
  /** The effect it executes; the pure definition lives with the contracts. */
  readonly effect: EffectDefinition<I, P>;
  /** The adapter's name, as receipts show it. */
  readonly name: string;
  /** How many may run at once: a whole number from 1; default 8. */
  readonly concurrency?: number;
  /**
   * Executes the effect once.
   *
   * Contract: answers outside failures as an outcome and throws only on its own defects (which become
   * `adapter_error`); stops soon after `signal` aborts; everything it puts is durable before its receipt is.
   */
  doExecute(params: I, context: AdapterContext): Promise<AdapterOutcome<P> | Deferred>;
  /**
   * Asks the outside whether an interrupted attempt happened. Required for delivery `reconcile`. What takes longer
   * than half a minute, and `happened` without an outcome, count as `unknown`.
   */
  doReconcile?(params: I, context: AdapterContext): Promise<Reconciliation<P>>;
}

/** An adapter with its types closed over, as a world takes it. */
// biome-ignore lint/suspicious/noExplicitAny: the world checks params and payload against the effect's schemas at run time
export type AnyAdapter = Adapter<any, any>;
