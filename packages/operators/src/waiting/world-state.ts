/** What a world is about after a frame, as far as waits follow from it: the newest snapshot, and the records behind it. */
import type { JournalRecord } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import {
  type FollowedCell,
  type OpenEffect,
  OpenEffectsFold,
  type SnapshotLeaves,
  StateFieldsFold,
  snapshotBefore,
} from '@reprise/kernel/inspect';
import { REDUCERS } from '../names/reducers.js';
import { WorldNames } from '../names/world-names.js';
import { skimFrames } from '../skim/index.js';
import { Returns } from './returns.js';
import { TreePauses } from './tree-pauses.js';

/** The fields of states that say for what a cell waits. */
const FIELDS = {
  [REDUCERS.session]: ['lifecycle', 'waiting', 'queued'],
  [REDUCERS.project]: ['status', 'needs'],
  [REDUCERS.tree]: ['status'],
} as const;

const LIVE_TREES: readonly string[] = ['running', 'paused'];

/** The parts of a world's state that waits follow from. */
export interface WaitingState {
  readonly names: WorldNames;
  readonly effects: readonly OpenEffect[];
  readonly cells: readonly FollowedCell[];
  readonly pauses: TreePauses;
  readonly returns: Returns;
}

/** Follows what waits from frame to frame. */
export class WaitingFold {
  readonly #names = new WorldNames();
  readonly #fields = new StateFieldsFold(FIELDS);
  readonly #pauses = new TreePauses();
  readonly #returns = new Returns();
  #effects = new OpenEffectsFold();

  /** Takes what a snapshot holds. */
  async load(snapshot: SnapshotLeaves): Promise<void> {
    this.#effects = new OpenEffectsFold(snapshot.effects);
    await this.#names.load(snapshot);
    await this.#fields.load(snapshot);
    for (const { address, fields } of this.#fields.cells.values())
      if (address[0] === REDUCERS.tree && LIVE_TREES.includes(String(fields.status)))
        await this.#pauses.load(snapshot, address[1]);
    await this.#returns.load(snapshot);
  }

  /** Takes the records of the next frame. */
  take(seq: number, at: number, records: readonly JournalRecord[]): void {
    this.#effects.take(seq, records);
    this.#fields.take(seq, at, records);
    for (const record of records) {
      this.#names.take(record);
      this.#pauses.take(record, { frame: seq, at });
      this.#returns.take(record, { frame: seq, at });
    }
  }

  /** The state after the last frame that was taken. */
  get state(): WaitingState {
    return {
      names: this.#names,
      effects: [...this.#effects.open.values()],
      cells: [...this.#fields.cells.values()],
      pauses: this.#pauses,
      returns: this.#returns,
    };
  }
}

/** Reads what waits after a frame: the price is that of the open world and of the frames since the newest snapshot. */
export async function waitingFoldAt(store: ReadonlyStore, seq: number, signal?: AbortSignal): Promise<WaitingFold> {
  const snapshot = await snapshotBefore(store, seq);
  const fold = new WaitingFold();
  await fold.load(snapshot);
  await skimFrames(store, { from: snapshot.seq + 1, to: seq, signal }, (frame, at, records) =>
    fold.take(frame, at, records),
  );
  return fold;
}
