/** Acknowledgements: where what was asked stands, once it is durable. */
import { RepriseError } from '@reprise/contracts';
import type { Journal } from '../journal/port.js';
import type { CommittedFrame, IngressOutcome } from './ingress.js';

/** What an acknowledgement says: where the request stands, durable. */
export interface Ack {
  readonly seq: number;
  /** The chain digest after that frame, as 64 hex digits: what `verify --expect` takes. */
  readonly head: string;
  /** The same request was journaled before; this is where. */
  readonly duplicate: boolean;
}

/** Acknowledges a frame that has just become durable. */
export function ackOfFrame({ seq, head }: CommittedFrame): Ack {
  return { seq, head: head.digest, duplicate: false };
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
