/**
 * Writes the acknowledged heads of a process to its slot of the witness, beside the commits, which do not wait for it.
 *
 * Invariants
 * W3  A put begins at the earliest a second after the one before, whatever is acknowledged; one more comes at closing. So up to
 *     a second of heads, and what a put takes, is in no slot.
 * W4  A process writes to a slot only while it has leased it, and after it has read what the slot named before.
 * W5  What a slot holds is written again each minute: a late put of a process that had the slot before is overwritten. So that
 *     hardly any comes, a slot is leased again at the earliest a minute after its lease, unless all others are taken.
 */

import type { WitnessPlace } from './place.js';
import { Slot, type SlotContent, type WitnessedHead, writeSlot } from './slot.js';

/** A slot that this process has leased. */
export interface LeasedSlot {
  /** The name of its object. */
  readonly name: string;
  /** What it named when it was leased. */
  readonly before: SlotContent;
  /** Whether this process still has it. */
  holds(): boolean;
}

/** What a recorder needs of its process. */
interface RecorderParts {
  readonly place: WitnessPlace;
  /** Leases a slot. Rejects when none is free, or it cannot be read. */
  lease(): Promise<LeasedSlot>;
  /** Called when heads cannot be written, once until they can be again. */
  onError(error: unknown): void;
}

/** Between two puts, and between two of the same content, in milliseconds. */
const PUT_EVERY_MS = 1_000;
const AGAIN_MS = 60_000;

/** The longest pause after puts that have failed, in milliseconds. */
const PAUSE_MS_MAX = 30_000;

/** The heads of a process, on their way to its slot. */
export class Recorder {
  readonly #slot = new Slot();
  #leased: LeasedSlot | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #begun = Number.NEGATIVE_INFINITY;
  #isNew = false;
  #failures = 0;
  #isClosed = false;

  constructor(private readonly parts: RecorderParts) {}

  /** Leases a slot, before anything is acknowledged. @throws what `lease` throws */
  async start(): Promise<void> {
    await this.#lease();
  }

  /** The last head of a world in an incarnation that this process knows of. */
  of(incarnation: string, world: string): WitnessedHead | undefined {
    return this.#slot.of(incarnation, world);
  }

  /** Puts a head that was acknowledged with the next put. */
  saw(head: WitnessedHead): void {
    this.#slot.saw(head);
    if (this.#isNew) return; // a put is on its way to be made
    this.#isNew = true;
    this.#later();
  }

  /** Writes what is not written yet. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#writing;
    if (this.#isNew) await this.#write();
  }

  #later(): void {
    if (this.#isClosed || this.#writing !== undefined) return;
    clearTimeout(this.#timer);
    const pause = this.#isNew ? Math.min(PUT_EVERY_MS * 2 ** this.#failures, PAUSE_MS_MAX) : AGAIN_MS;
    const wait = Math.max(0, this.#begun + pause - performance.now());
    this.#timer = setTimeout(() => void this.#write(), wait).unref();
  }

  #write(): Promise<void> {
    this.#begun = performance.now();
    this.#isNew = false;
    this.#writing = this.#put().finally(() => {
      this.#writing = undefined;
      this.#later();
    });
    return this.#writing;
  }

  async #put(): Promise<void> {
    try {
      const { name } = await this.#lease();
      await this.parts.place.put(name, writeSlot(this.#slot.content));
      this.#failures = 0;
    } catch (error) {
      this.#isNew = true;
      if (this.#failures++ === 0) this.parts.onError(error);
    }
  }

  async #lease(): Promise<LeasedSlot> {
    if (this.#leased?.holds() === true) return this.#leased;
    const leased = await this.parts.lease();
    this.#slot.inherit(leased.before); // W4
    this.#leased = leased;
    return leased;
  }
}
