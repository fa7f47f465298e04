/** Which cells pending items belong to, also after they were decided: what a principal does not have stays hidden from it then too. */
import type { AgentWorld } from '@reprise/agent';
import type { Address } from '@reprise/contracts';

/** How many items are remembered. */
const KNOWN_MAX = 10_000;

/** The cells of items, for as long as the server remembers them. */
export class ItemCells {
  readonly #known = new Map<string, Address>();

  constructor(private readonly world: AgentWorld) {}

  /** The cell of an item that waits, or that has waited; undefined for one that is not remembered. */
  async of(item: string): Promise<Address | undefined> {
    await this.waiting();
    return this.#known.get(item);
  }

  /** The cells of what waits now, by the ids of the items. */
  async waiting(): Promise<ReadonlyMap<string, Address>> {
    const now = new Map((await this.world.kernel.pending()).map(({ id, cell }) => [id, cell] as const));
    for (const [id, cell] of now) this.#known.set(id, cell);
    for (const id of this.#known.keys()) {
      if (this.#known.size <= KNOWN_MAX) break;
      this.#known.delete(id);
    }
    return now;
  }
}
