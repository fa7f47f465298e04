/**
 * The past of a world for a reader that goes back and forth in it: a replayer that is kept, and marks on the way.
 *
 * Invariants
 * KP1  A state is that of `worldAt`: marks are maps that the replay itself computed, and their nodes stay in memory.
 * KP2  From a frame that was reached, each frame within the same stretch is reached by replaying at most 256 frames.
 */
import { isWhole, RepriseError } from '@reprise/contracts';
import type { Head } from '../../ports/journal/port.js';
import type { ReadonlyStore } from '../../ports/store/store.js';
import { type Hash, portableSha256 } from '../../pure/codec/index.js';
import type { App } from '../../pure/define/index.js';
import { LeafTable } from '../../state/leaf-table.js';
import { type MapRoot, MerkleMap } from '../../state/map/index.js';
import { ComputedNodes } from '../../state/value-nodes.js';
import { appAt, NOBODY, readWorld, type WorldAt } from '../verify/at.js';
import { Replayer } from '../verify/era/replayer.js';
import { startFrom } from '../verify/era/start-from.js';

/** The frames between two marks. */
const MARK_EVERY = 256;

/** The most marks: with more, all are dropped, and their nodes with them. */
const MARKS_MAX = 1_024;

interface Mark {
  readonly head: Head;
  readonly root: MapRoot['ref'];
  readonly app: App;
  /** The nodes that it was computed with. */
  readonly map: MerkleMap;
}

/** A replayer, and the nodes that it computes with. */
interface Kept {
  readonly replayer: Replayer;
  readonly map: MerkleMap;
}

type Source = Pick<ReadonlyStore, 'journal' | 'content' | 'hash'>;

/** Reads the states of a world at one frame after another. One call at a time: a state holds until the next call. */
export class KeptPast {
  readonly #hash: Hash;
  readonly #marks = new Map<number, Mark>();
  #map: MerkleMap;
  #kept: Kept | undefined;

  constructor(
    private readonly store: Source,
    private readonly app: App,
    private readonly legacy: readonly App[] = [],
  ) {
    this.#hash = store.hash ?? portableSha256;
    this.#map = this.#newMap();
  }

  /**
   * The state after a frame.
   *
   * @throws RepriseError as `worldAt`; the reason of the signal when it is aborted on the way
   */
  async at(seq: number, signal?: AbortSignal): Promise<WorldAt> {
    const last = (await this.store.journal.head()).seq;
    if (!isWhole(seq) || seq > last)
      throw new RepriseError('invalid_argument', 'there is no such frame', { expected: `0 to ${last}`, actual: seq });
    const kept = await this.#nearest(seq);
    const { replayer } = kept;
    this.#kept = undefined; // a step that fails leaves nothing to go on from
    for await (const stored of this.store.journal.read(replayer.head.seq + 1, seq)) {
      if (signal?.aborted === true) break;
      await replayer.step(stored);
      if (stored.seq % MARK_EVERY === 0) await this.#mark(kept);
    }
    if (replayer.app !== NOBODY && kept.map === this.#map) this.#kept = kept;
    signal?.throwIfAborted();
    return readWorld(this.store.content, this.app, replayer, replayer.app);
  }

  /** A replayer at the nearest known frame at or before one, in the era of that frame. */
  async #nearest(seq: number): Promise<Kept> {
    const snapshot = (await this.store.journal.findLast('snapshot', seq))?.seq ?? -1;
    const kept = this.#kept;
    const mark = this.#markBefore(seq);
    const keptAt = kept === undefined ? -1 : kept.replayer.head.seq;
    // A new era follows a snapshot, so what lies before the newest snapshot may belong to another one.
    if (kept !== undefined && keptAt <= seq && keptAt > snapshot && keptAt >= (mark?.head.seq ?? -1)) return kept;
    if (mark !== undefined && mark.head.seq > snapshot) {
      const table = new LeafTable(mark.map);
      await table.openAt(mark.root);
      return this.#replay(mark.app, table, mark.head, mark.map);
    }
    const table = new LeafTable(this.#map);
    const start = await startFrom(this.store, table, seq);
    const app = await appAt(this.store, [this.app, ...this.legacy], seq, start.seq === seq);
    return this.#replay(app, table, start, this.#map);
  }

  #newMap(): MerkleMap {
    return new MerkleMap(new ComputedNodes(this.store.content, this.#hash), this.#hash);
  }

  #replay(app: App, table: LeafTable, head: Head, map: MerkleMap): Kept {
    return { replayer: new Replayer({ app, hash: this.#hash, plans: new WeakMap() }, table, head), map };
  }

  #markBefore(seq: number): Mark | undefined {
    for (let at = seq - (seq % MARK_EVERY); at >= 0; at -= MARK_EVERY) {
      const mark = this.#marks.get(at);
      if (mark !== undefined) return mark;
    }
    return undefined;
  }

  async #mark({ replayer: { table, head, app }, map }: Kept): Promise<void> {
    if (this.#marks.has(head.seq)) return;
    if (this.#marks.size >= MARKS_MAX) {
      // What stands on the nodes so far is dropped with them.
      this.#marks.clear();
      this.#map = this.#newMap();
    }
    const { ref } = await table.snapshot();
    table.rebase(ref);
    this.#marks.set(head.seq, { head, root: ref, app, map });
  }
}
