/** Acknowledgements: where what was asked stands, once it is durable. */
import { type JournalRecord, RepriseError } from '@reprise/contracts';
import type { Journal } from '../../../ports/journal/port.js';
import type { CommittedFrame, IngressOutcome } from './ingress.js';

/** What an acknowledgement says: where the request stands, durable. */
export interface Ack {
  readonly seq: number;
  /** The chain digest after that frame, as 64 hex digits: what `verify --expect` takes. */
  readonly head: string;
  /** The same request was journaled before; this is where. */
  readonly duplicate: boolean;
}

/** The frames that acknowledgements were given for, for as long as those are kept. */
const acknowledged = new WeakMap<Ack, readonly JournalRecord[]>();

/** Acknowledges a frame that has just become durable. */
export function ackOfFrame({ seq, head, records }: Pick<CommittedFrame, 'seq' | 'head' | 'records'>): Ack {
  const ack = { seq, head: head.digest, duplicate: false };
  acknowledged.set(ack, records);
  return ack;
}

/**
 * The records of the frame that an acknowledgement was given for, to be read only; undefined of a repeated request, whose
 * frame is read from the journal. An acknowledgement is data, so they stand beside it.
 */
export function recordsOf(ack: Ack): readonly JournalRecord[] | undefined {
  return acknowledged.get(ack);
}

/**
 * Acknowledges what became of an ingress.
 *
 * @throws RepriseError why it was refused
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
  throw new RepriseError('journal_damaged', 'the frame of an earlier request is gone', { where: `frame ${seq}` });
}
