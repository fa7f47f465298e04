/** Acknowledgements: where a request stands in the journal, once it is durable. */
import { type JournalRecord, RepriseError } from '@reprise/contracts';
import type { Journal } from '../../../ports/journal/port.js';
import type { CommittedFrame, IngressOutcome } from './ingress.js';

/** An acknowledgement: where the durable request stands. */
export interface Ack {
  readonly seq: number;
  /** The chain digest after that frame, as 64 hex digits: what `verify --expect` takes. */
  readonly head: string;
  /** The same request was journaled before; the acknowledgement names that place. */
  readonly duplicate: boolean;
}

/** The frames of acknowledgements, for as long as the acknowledgements exist. */
const acknowledged = new WeakMap<Ack, readonly JournalRecord[]>();

/** Acknowledges a frame that has just become durable. */
export function ackOfFrame({ seq, head, records }: Pick<CommittedFrame, 'seq' | 'head' | 'records'>): Ack {
  const ack = { seq, head: head.digest, duplicate: false };
  acknowledged.set(ack, records);
  return ack;
}

/**
 * The records of the acknowledged frame, read-only; undefined for a repeated request, whose frame is read from the
 * journal. An acknowledgement is data, so its records are held beside it.
 */
export function recordsOf(ack: Ack): readonly JournalRecord[] | undefined {
  return acknowledged.get(ack);
}

/**
 * Acknowledges the outcome of an ingress.
 *
 * @throws RepriseError the refusal
 */
export async function ackOf(journal: Journal, outcome: IngressOutcome): Promise<Ack> {
  switch (outcome.status) {
    case 'committed':
      return ackOfFrame(outcome.frame);
    case 'refused':
      throw outcome.error;
    case 'duplicate':
      return { seq: outcome.seq, head: await headAfter(journal, outcome.seq), duplicate: true };
    default:
      return outcome satisfies never;
  }
}

/** The chain digest after the frame of an earlier request. */
export async function headAfter(journal: Journal, seq: number): Promise<string> {
  for await (const stored of journal.read(seq, seq)) return stored.head;
  throw new RepriseError('journal_damaged', 'the frame of an earlier request is missing', { where: `frame ${seq}` });
}
