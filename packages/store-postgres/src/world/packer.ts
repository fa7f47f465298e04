/**
 * When older frames and blobs are packed: behind the appends, as soon as a whole pack waits, one pack at a time in a process;
 * and at closing, unless others wait for their turn. What fails waits for the next appends: no append needs a pack.
 */
import { PACK_BYTES_LEAST } from '@reprise/packs';
import { packBlobs } from './packed-blobs.js';
import { packFrames } from './packed-frames.js';
import type { OwnedPlace } from './place.js';

/** Makes one pack of what waits; see {@link packFrames}. */
type Pack = typeof packFrames;

/** The packs of all worlds of a process, one after another. */
export class Packer {
  #last: Promise<void> = Promise.resolve();
  #turns = 0;

  /** @param packBytes the plain bytes of a pack; 0 to pack nothing */
  constructor(readonly packBytes: number) {}

  get isBusy(): boolean {
    return this.#turns > 0;
  }

  /** Runs work after all that came before; it must not reject. */
  inTurn(work: () => Promise<void>): Promise<void> {
    this.#turns++;
    this.#last = this.#last.then(work).finally(() => {
      this.#turns--;
    });
    return this.#last;
  }
}

/** What waits in one world, while it is open. */
export class WorldPacks {
  readonly #parts: readonly Part[];
  #isClosed = false;

  constructor(
    private readonly packer: Packer,
    place: OwnedPlace,
    holds: () => boolean,
    /** The frames that waited when the world was opened: how many bytes they have is not known. */
    framesBefore: number,
  ) {
    const isOver = (): boolean => this.#isClosed || !holds();
    this.#parts = [packFrames, packBlobs].map((pack) => new Part(packer, place, pack, isOver));
    if (framesBefore >= LOOK_FRAMES) this.#parts[0]?.add(packer.packBytes);
  }

  /** Bytes that became durable in rows of their own. */
  added(bytes: { readonly frames: number; readonly blobs: number }): void {
    this.#parts[0]?.add(bytes.frames);
    this.#parts[1]?.add(bytes.blobs);
  }

  /** Packs what is left, and waits for it. Nothing is packed after it. */
  async close(): Promise<void> {
    const drains = this.packer.isBusy; // many worlds close at once: they are packed when they are open again
    if (!drains) for (const part of this.#parts) part.finish();
    await Promise.all(this.#parts.map((part) => (drains ? undefined : part.idle)));
    this.#isClosed = true;
    await Promise.all(this.#parts.map((part) => part.idle));
  }
}

/** The frames that waited at an opening from which it is worth a look whether they fill a pack. */
const LOOK_FRAMES = 256;

/** The frames of a world, or its blobs. */
class Part {
  #waiting = 0;
  #isQueued = false;
  idle: Promise<void> = Promise.resolve();

  constructor(
    private readonly packer: Packer,
    private readonly place: OwnedPlace,
    private readonly pack: Pack,
    private readonly isOver: () => boolean,
  ) {}

  add(bytes: number): void {
    this.#waiting += bytes;
    if (this.#waiting >= this.packer.packBytes) this.#queue(this.packer.packBytes);
  }

  /** Packs what is left, if that is worth a pack. */
  finish(): void {
    const least = Math.min(PACK_BYTES_LEAST, this.packer.packBytes);
    if (this.#waiting >= least) this.#queue(least);
  }

  #queue(least: number): void {
    if (this.#isQueued || this.isOver() || this.packer.packBytes === 0) return;
    this.#isQueued = true;
    this.idle = this.packer.inTurn(() => this.#run(least));
  }

  async #run(least: number): Promise<void> {
    this.#isQueued = false;
    this.#waiting = 0;
    try {
      let left: number | undefined;
      while (left === undefined && !this.isOver())
        left = await this.pack(this.place, { least, most: this.packer.packBytes });
      this.#waiting += left ?? 0;
    } catch {
      // The frames and blobs are whole where they are; the next appends try again.
    }
  }
}
