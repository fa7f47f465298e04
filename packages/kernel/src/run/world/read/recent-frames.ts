/**
 * The newest frames as watchers read them. Every run follows the frames of the whole world, so a world of many sessions
 * would decode each frame as often as it has runs.
 *
 * Owns: which frames are shared, and for how long. Does not own: what a frame says (`ports/journal/frame.ts`).
 *
 * Invariants
 * N1  A shared frame is durable. It was read from its bytes, or is made of the records that this opening has written, with
 *     what stands in the state beside it, and is the same as if it was read. Watchers that ask at the same time share one.
 * N2  No watcher changes what another one gets, or what the world keeps: what is shared is frozen, and bytes, which cannot be
 *     frozen, are each watcher's own, with the lists and objects around them.
 * N3  A reading that failed is not kept: the next watcher tries again.
 */
import type { Value } from '@reprise/contracts';
import { writtenRecords } from '../../../ports/journal/frame.js';
import { PassingMap } from '../../../ports/time/passing-map.js';
import { sharedValue } from '../../../pure/codec/index.js';
import type { CommittedFrame } from '../write/ingress.js';
import type { WorldFrame } from './reading.js';

/** How many frames are shared: a watcher that is further behind reads for itself. */
export const RECENT_FRAMES = 64;

/** How many written frames wait for a watcher: one begins to watch when its request is durable, and so a frame late. */
const WRITTEN_FRAMES = 16;

/** A larger frame is read anew for each watcher: decoded, it takes some ten times as much memory. */
const SHARED_BYTES_MAX = 32 * 1024;

/** A frame that was read, and the length of its bytes. */
export interface ReadFrame {
  readonly frame: WorldFrame;
  readonly length: number;
}

/** Shares the newest frames between watchers. */
export class RecentFrames {
  /** By number; undefined for a frame that each watcher reads for itself. */
  readonly #shared = new Map<number, WorldFrame | undefined | Promise<WorldFrame | undefined>>();
  /** By number: frames that were just written, until they are first asked for. */
  readonly #written = new PassingMap<number, CommittedFrame>();
  /** What is frozen and holds bytes, itself or further in: of all frames, since a value may stand in several of them. */
  readonly #holders = new WeakSet<object>();

  /** @param read reads a durable frame */
  constructor(private readonly read: (seq: number) => Promise<ReadFrame>) {}

  /** Takes frames that have just become durable, so that watchers need not read them back. */
  committed(frames: readonly CommittedFrame[]): void {
    for (const frame of frames) if (frame.size <= SHARED_BYTES_MAX) this.#written.set(frame.seq, frame);
    dropOldest(this.#written, WRITTEN_FRAMES);
  }

  /** A durable frame, shared between watchers while it is recent: at once where it is known, else when it was read. */
  at(seq: number): WorldFrame | Promise<WorldFrame> {
    const shared = this.#shared.has(seq) ? this.#shared.get(seq) : this.#share(seq);
    return shared instanceof Promise ? shared.then((frame) => this.#given(seq, frame)) : this.#given(seq, shared);
  }

  #given(seq: number, shared: WorldFrame | undefined): WorldFrame | Promise<WorldFrame> {
    return shared === undefined ? this.read(seq).then(({ frame }) => frame) : this.#own(shared);
  }

  #share(seq: number): WorldFrame | Promise<WorldFrame | undefined> {
    const shared = this.#take(seq) ?? this.#readShared(seq);
    this.#shared.set(seq, shared);
    dropOldest(this.#shared, RECENT_FRAMES);
    return shared;
  }

  #take(seq: number): WorldFrame | undefined {
    const written = this.#written.get(seq);
    if (written === undefined) return undefined;
    this.#written.delete(seq);
    return this.#frozen(frameOf(written));
  }

  async #readShared(seq: number): Promise<WorldFrame | undefined> {
    try {
      const { frame, length } = await this.read(seq);
      return length > SHARED_BYTES_MAX ? undefined : this.#frozen(frame);
    } catch (error) {
      this.#shared.delete(seq); // N3
      throw error;
    }
  }

  #frozen(frame: WorldFrame): WorldFrame {
    this.#freeze(frame);
    return frame;
  }

  /** Freezes a thing and all in it but bytes; returns whether it holds bytes. */
  #freeze(thing: object): boolean {
    if (ArrayBuffer.isView(thing)) return true;
    if (Object.isFrozen(thing)) return this.#holders.has(thing); // a link, or what stands twice in frames
    Object.freeze(thing);
    let holds = false;
    for (const part of Object.values(thing))
      if (typeof part === 'object' && part !== null) holds = this.#freeze(part) || holds;
    if (holds) this.#holders.add(thing);
    return holds;
  }

  /** A thing with bytes of its own, and with its own of all that holds bytes; the thing itself when it holds none. */
  #own<T extends object>(thing: T): T {
    if (!this.#holders.has(thing)) return thing;
    const copy = (Array.isArray(thing) ? [...thing] : { ...thing }) as Record<string, unknown>;
    for (const [key, part] of Object.entries(thing)) {
      if (part instanceof Uint8Array) copy[key] = part.slice();
      else if (typeof part === 'object' && part !== null) copy[key] = this.#own(part as object);
    }
    return copy as T;
  }
}

function dropOldest(
  frames: { keys(): Iterable<number>; size: number; delete(key: number): boolean },
  max: number,
): void {
  for (const old of frames.keys()) {
    if (frames.size <= max) break;
    frames.delete(old);
  }
}

/** The frame that reading the bytes of a written one would give. */
function frameOf({ seq, at, head, packed }: CommittedFrame): WorldFrame {
  return { seq, at, head: head.digest, records: writtenRecords(sharedValue(packed as readonly Value[])) };
}
