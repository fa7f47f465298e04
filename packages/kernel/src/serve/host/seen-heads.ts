/** The last durable frame of each world that a host has seen: a store that has lost it is not opened. */
import type { Head } from '../../ports/journal/port.js';

/**
 * Keeps the last durable frames of worlds beyond the life of a host, apart from their stores: such as in a table of
 * another database. A store that fell back to an older state is then refused by a later host, too.
 */
export interface HostWitness {
  /** The last frame that was kept for a world; undefined for none. Rejects when it cannot tell: the world stays closed. */
  head(world: string): Promise<Head | undefined>;
  /** Keeps the last durable frame of a world, before its row in the directory says that it is closed. */
  saw(world: string, head: Head): Promise<void>;
}

/** What a host has seen itself, and what its witness kept. */
export class SeenHeads {
  readonly #seen = new Map<string, Head>();

  constructor(private readonly witness: HostWitness | undefined) {}

  /** The newest of both; undefined for a world that neither knows. */
  async of(world: string): Promise<Head | undefined> {
    const seen = this.#seen.get(world);
    const kept = await this.witness?.head(world);
    if (seen === undefined || kept === undefined) return seen ?? kept;
    return kept.seq > seen.seq ? kept : seen;
  }

  /** A world was closed at this head. */
  async saw(world: string, head: Head): Promise<void> {
    this.#seen.set(world, head);
    await this.witness?.saw(world, head);
  }
}
