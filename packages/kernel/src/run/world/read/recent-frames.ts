/**
 * The newest frames as watchers read them. Every run follows the frames of the whole world, so a world of many sessions
 * would decode each frame as often as it has runs.
 *
 * Owns: which frames are shared, and for how long. Does not own: what a frame says (`ports/journal/frame.ts`).
 *
 * Invariants
 * N1  A shared frame is durable and was read from its bytes; watchers that ask at the same time share one reading.
 * N2  No watcher changes what another one gets: what is shared is frozen, and bytes, which cannot be frozen, are each
 *     watcher's own, with the lists and objects around them.
 * N3  A reading that failed is not kept: the next watcher tries again.
 */
import { isRef } from '@reprise/contracts';
import type { WorldFrame } from './reading.js';

/** How many frames are shared: a watcher that is further behind reads for itself. */
export const RECENT_FRAMES = 64;

/** A larger frame is read anew for each watcher: decoded, it takes some ten times as much memory. */
const SHARED_BYTES_MAX = 32 * 1024;

/** A frame that was read, and the length of its bytes. */
export interface ReadFrame {
  readonly frame: WorldFrame;
  readonly length: number;
}

/** A frame and the objects in it that hold bytes, themselves or further in. */
interface SharedFrame {
  readonly frame: WorldFrame;
  readonly holders: ReadonlySet<object>;
}

/** Shares the newest frames between watchers. */
export class RecentFrames {
  /** By number; undefined for a frame that each watcher reads for itself. */
  readonly #shared = new Map<number, Promise<SharedFrame | undefined>>();

  /** @param read reads a durable frame */
  constructor(private readonly read: (seq: number) => Promise<ReadFrame>) {}

  /** A durable frame. */
  async at(seq: number): Promise<WorldFrame> {
    const shared = await (this.#shared.get(seq) ?? this.#share(seq));
    return shared === undefined ? (await this.read(seq)).frame : own(shared.frame, shared.holders);
  }

  #share(seq: number): Promise<SharedFrame | undefined> {
    const shared = this.read(seq).then(({ frame, length }) => (length > SHARED_BYTES_MAX ? undefined : frozen(frame)));
    this.#shared.set(seq, shared);
    shared.catch(() => this.#shared.delete(seq)); // N3
    for (const old of this.#shared.keys()) {
      if (this.#shared.size <= RECENT_FRAMES) break;
      this.#shared.delete(old);
    }
    return shared;
  }
}

function frozen(frame: WorldFrame): SharedFrame {
  const holders = new Set<object>();
  freeze(frame, holders);
  return { frame, holders };
}

/** Freezes a thing and all in it but bytes; returns whether it holds bytes. */
function freeze(thing: unknown, holders: Set<object>): boolean {
  if (typeof thing !== 'object' || thing === null || isRef(thing)) return false;
  if (ArrayBuffer.isView(thing)) return true;
  Object.freeze(thing);
  let holds = false;
  for (const part of Object.values(thing)) holds = freeze(part, holders) || holds;
  if (holds) holders.add(thing);
  return holds;
}

/** A thing with bytes of its own. */
function own<T>(thing: T, holders: ReadonlySet<object>): T {
  if (thing instanceof Uint8Array) return thing.slice() as T & Uint8Array;
  if (typeof thing !== 'object' || thing === null || !holders.has(thing)) return thing;
  if (Array.isArray(thing)) return thing.map((part) => own(part, holders)) as T & unknown[];
  return Object.fromEntries(Object.entries(thing).map(([key, part]) => [key, own(part, holders)])) as T & object;
}
