/** The input of the stepper, and its outcome. */
import { type IngressRecord, isRepriseError, type JournalRecord, RepriseError } from '@reprise/contracts';
import type { Head } from '../../../ports/journal/port.js';
import { Exhausted, type FaultedDelivery, type LeafChange, Refusal } from '../../../pure/engine/index.js';
import { Duplicate } from './repetition.js';

/** A frame's number and time. */
export interface Stamps {
  readonly seq: number;
  readonly at: number;
}

/** The outcome of an ingress, reported only when it is durable. */
export type IngressOutcome =
  | { readonly status: 'committed'; readonly frame: CommittedFrame }
  | { readonly status: 'duplicate'; readonly seq: number }
  | { readonly status: 'refused'; readonly error: RepriseError };

/** An ingress that waits to be folded. */
export interface QueuedIngress {
  /** An own input cannot be refused when folding it fails, and is never lost to a failed commit. */
  readonly own: boolean;
  /** The own input's name: it identifies a poisoned own input after a crash. See {@link OwnInput.nameAt}. */
  nameAt?(seq: number): string;
  /** The record, with its values parsed and canonical. Pure: called again when an own input is tried again. */
  make(stamps: Stamps, quarantined: boolean): IngressRecord;
  settle(outcome: IngressOutcome): void;
}

/** A frame that is durable. */
export interface CommittedFrame {
  readonly seq: number;
  readonly at: number;
  readonly head: Head;
  /** The number of its bytes. */
  readonly size: number;
  readonly records: readonly JournalRecord[];
  /** The list that its bytes encode. */
  readonly packed: readonly unknown[];
  readonly changes: readonly LeafChange[];
  /** Effects armed in this frame: they may start. */
  readonly armed: readonly string[];
  /** Running effects that should stop. */
  readonly aborts: readonly string[];
  /** Deliveries that became faults while the frame was folded. */
  readonly faulted: readonly FaultedDelivery[];
}

/** Whether folding it normally would close the world at every open, or could not be repeated. */
export function isPoison(thrown: unknown): boolean {
  return thrown instanceof Exhausted || isRepriseError(thrown, 'nondeterminism') || thrown instanceof RangeError;
}

/** The outcome of an ingress whose fold threw. */
export function outcomeOf(thrown: unknown): IngressOutcome {
  if (thrown instanceof Duplicate) return { status: 'duplicate', seq: thrown.seq };
  if (thrown instanceof Refusal)
    return { status: 'refused', error: new RepriseError(thrown.code, thrown.what, thrown.facts) };
  if (thrown instanceof Exhausted || thrown instanceof RangeError) {
    const error = new RepriseError('stack_exhausted', 'folding this request exhausted the machine', {
      cause: thrown instanceof Exhausted ? thrown.cause : thrown,
      hint: 'A reducer or plan recurses too deeply or builds too much.',
    });
    return { status: 'refused', error };
  }
  if (isRepriseError(thrown)) return { status: 'refused', error: thrown };
  const error = new RepriseError('internal_error', 'the kernel broke one of its own invariants', {
    cause: thrown,
    hint: 'Please report it with the world file: nothing was journaled and the world was closed.',
  });
  return { status: 'refused', error };
}
