/**
 * Finds repeated requests. A repetition is never journaled, so it is not part of the state: the store's
 * index over the journal answers for durable requests, the batch for those that are being committed.
 */
import { type IngressRecord, RepriseError } from '@reprise/contracts';
import { readInputs } from '../../../ports/journal/frame.js';
import type { Journal } from '../../../ports/journal/port.js';
import { isKeyed, type KeyedIngress, requestKey } from '../../../ports/journal/request-key.js';
import { encode, equalBytes, FRAME_DEPTH_MAX, type Hash } from '../../../pure/codec/index.js';
import { Refusal } from '../../../pure/engine/index.js';

/** The same request is already in the journal. Caught by the stepper, which answers with that frame. */
export class Duplicate {
  constructor(readonly seq: number) {}
}

/** The answer of a durable frame to a repeated request: it holds whether or not later frames commit. */
export class Known {
  constructor(readonly answer: Duplicate | Refusal) {}
}

/** An earlier request, and its frame. */
export interface EarlierRequest {
  readonly seq: number;
  readonly request: KeyedIngress;
}

/** The durable request under a key; undefined without one. */
export async function earlierRequest(journal: Journal, key: string, hash: Hash): Promise<EarlierRequest | undefined> {
  const seq = await journal.findKey(key);
  if (seq === undefined) return undefined;
  for await (const stored of journal.read(seq, seq)) {
    const ingress: IngressRecord = readInputs(stored.bytes, seq).ingress;
    // The index may be wrong: the frame it points at must hold the request.
    if (isKeyed(ingress) && requestKey(ingress, hash) === key) return { seq, request: ingress };
  }
  throw new RepriseError('journal_damaged', 'the index of requests does not match the journal', {
    where: `frame ${seq}`,
    hint: 'Restore the world from a copy: repeated requests could no longer be detected.',
  });
}

/** Compares a request with an earlier one under the same key: they conflict when their content differs. */
export function repetitionOf(earlier: EarlierRequest, request: KeyedIngress): Duplicate | Refusal {
  if (equalBytes(contentOf(earlier.request), contentOf(request))) return new Duplicate(earlier.seq);
  return new Refusal('request_conflict', `request ${request.id} was made before with other content`, {
    where: `frame ${earlier.seq}`,
    hint: 'Use a new id for a new request; repeat the same content to learn the outcome of the first.',
  });
}

function contentOf(asked: KeyedIngress): Uint8Array {
  if (asked.kind === 'erase') {
    // The links of a cell are not part of a request to erase: they are fewer after the first time.
    const { kind, cell, subtree, digests, reason } = asked;
    return encode([kind, cell, subtree, cell === null ? digests : [], reason ?? null]);
  }
  const content = asked.kind === 'request' ? [asked.to, asked.event, asked.actor ?? null] : [asked.command];
  return encode(content, FRAME_DEPTH_MAX); // an event's value may nest as deep as a value may
}
