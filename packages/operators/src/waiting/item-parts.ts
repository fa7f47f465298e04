/** What the items of a world are made from. */
import type { ReadonlyStore } from '@reprise/kernel';
import type { WaitingState } from './world-state.js';

/** What the items of a world are made from. */
export interface ItemParts {
  readonly store: ReadonlyStore;
  readonly state: WaitingState;
  /** The path of the world in the lines that answer. */
  readonly world: string;
  readonly times: FrameTimes;
}

/** The times of frames, each read once. */
export class FrameTimes {
  readonly #known = new Map<number, number>();

  constructor(private readonly store: ReadonlyStore) {}

  async of(seq: number): Promise<number> {
    const known = this.#known.get(seq);
    if (known !== undefined) return known;
    let at = 0;
    for await (const frame of this.store.journal.read(seq, seq)) at = frame.at;
    this.#known.set(seq, at);
    return at;
  }
}
