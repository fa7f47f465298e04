/**
 * A FIFO of deliveries that may outlive its frame: the rest waits for the next frame in chunks, so that a frame pays
 * only for the deliveries that it takes out and puts in, however many wait.
 *
 * Invariants
 * Q1  First in, first out, over all frames.
 * Q2  A chunk is written once, and once more when its frame ended in the middle of it.
 * Q3  `bytes` is the sum over all that wait, in this frame and in chunks.
 */

import { FRAME_DELIVERIES_MAX } from '../leaf/bounds.js';
import { damagedLeaves } from '../leaf/damage.js';
import { type BacklogName, pendingKey } from '../leaf/leaf-key.js';
import type { KeptBacklog, Overlay, PendingDelivery } from '../leaf/leaves.js';
import type { QueuedDelivery } from './frame-fold.js';

export const NOTHING_KEPT: KeptBacklog = { first: 0, end: 0, count: 0, bytes: 0 };

/** Waiting deliveries: those of this frame in memory, those of earlier frames in the ledger until they are due. */
export class Backlog {
  #taken: readonly QueuedDelivery[] = [];
  #next = 0;
  #added: QueuedDelivery[] = [];
  #first: number;
  #end: number;
  #kept: number;
  #bytes: number;

  constructor(
    private readonly overlay: Overlay,
    private readonly name: BacklogName,
    { first, end, count, bytes }: KeptBacklog = NOTHING_KEPT,
  ) {
    [this.#first, this.#end, this.#kept, this.#bytes] = [first, end, count, bytes];
  }

  /** The number of waiting deliveries. */
  get length(): number {
    return this.#taken.length - this.#next + this.#kept + this.#added.length;
  }

  /** The bytes of the values that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a delivery at the end. */
  push(delivery: QueuedDelivery): void {
    this.#bytes += bytesOf(delivery);
    this.#added.push(delivery);
  }

  /** The next one, which stays; undefined when the backlog is empty. */
  peek(): QueuedDelivery | undefined {
    if (this.#next === this.#taken.length) this.#refill();
    return this.#taken[this.#next];
  }

  /** Takes the next one out; undefined when the backlog is empty. */
  shift(): QueuedDelivery | undefined {
    const next = this.peek();
    if (next === undefined) return undefined;
    this.#next++;
    this.#bytes -= bytesOf(next);
    return next;
  }

  /** The next deliveries in memory: the leaves that they need may be loaded together. */
  upcoming(): readonly QueuedDelivery[] {
    const taken = this.#taken.slice(this.#next, this.#next + FRAME_DELIVERIES_MAX);
    return this.#kept > 0 ? taken : [...taken, ...this.#added.slice(0, FRAME_DELIVERIES_MAX - taken.length)];
  }

  /** Writes the rest for the next frame. */
  keep(): KeptBacklog {
    const [left, count] = [this.#taken.slice(this.#next), this.length];
    if (this.#kept === 0) {
      this.#end = this.#first;
      this.#append([...left, ...this.#added]);
    } else {
      if (left.length > 0) this.#write(--this.#first, left); // Q2: the chunk that was taken last
      this.#append(this.#added);
    }
    return { first: this.#first, end: this.#end, count, bytes: this.#bytes };
  }

  #refill(): void {
    this.#next = 0;
    if (this.#kept > 0) {
      const key = pendingKey(this.name, this.#first++);
      const chunk = this.overlay.get(key);
      if (chunk === undefined)
        throw damagedLeaves('a chunk of waiting deliveries is missing', `leaf ${key.path.join(' ')}`);
      this.overlay.set(key, undefined);
      this.#kept -= chunk.deliveries.length;
      this.#taken = chunk.deliveries.map(queuedOf);
    } else {
      this.#taken = this.#added;
      this.#added = [];
    }
  }

  #append(deliveries: readonly QueuedDelivery[]): void {
    for (let at = 0; at < deliveries.length; at += FRAME_DELIVERIES_MAX) {
      this.#write(this.#end++, deliveries.slice(at, at + FRAME_DELIVERIES_MAX));
    }
  }

  #write(chunk: number, deliveries: readonly QueuedDelivery[]): void {
    this.overlay.set(pendingKey(this.name, chunk), { deliveries: deliveries.map(pendingOf) });
  }
}

/** What a delivery counts for while it waits. Notices and woken plans count by their number only: they are small. */
function bytesOf(delivery: QueuedDelivery): number {
  return delivery.kind === 'sweep' ? 0 : (delivery.bytes ?? 0);
}

/** A delivery in the form that waits for the next frame: its cause is a record of this one. */
function pendingOf(delivery: QueuedDelivery): PendingDelivery {
  switch (delivery.kind) {
    case 'event': {
      const { cause: _cause, root: _root, ...rest } = delivery;
      return rest;
    }
    case 'plan': {
      const { cause: _cause, ...rest } = delivery;
      return rest;
    }
    case 'sweep':
      return delivery;
    default:
      return delivery satisfies never;
  }
}

/** A delivery that waited: its cause is the next frame's own record. */
function queuedOf(delivery: PendingDelivery): QueuedDelivery {
  if (delivery.kind === 'event') return { ...delivery, cause: 0, root: false };
  return delivery.kind === 'plan' ? { ...delivery, cause: 0 } : delivery;
}
