/**
 * Caches whether a principal may read each cell: an answer is valid for as long as the leaves it was computed from are
 * the same objects and the rights have not expired.
 */
import type { Address, Principal } from '@reprise/contracts';
import { gateRead, type LeafKey, Miss, type ReadVerdict, WORLD_KEY } from '../../../pure/engine/index.js';
import type { LeafTable } from '../../../state/leaf-table.js';
import { loaded } from '../../../state/loaded.js';
import { worldOf } from '../../../state/world-leaf.js';

/** The cached answers for one principal. */
const READ_VERDICTS_MAX = 1_024;

interface Kept {
  readonly verdict: ReadVerdict;
  /** The leaves it was computed from. */
  readonly from: readonly (readonly [key: LeafKey, leaf: unknown])[];
}

/** What the cache needs for one principal. */
export class ReadRights {
  readonly #kept = new Map<string, Kept>();

  /** @param who the principal, in the form used in leaves */
  constructor(
    private readonly table: LeafTable,
    private readonly who: Principal,
  ) {}

  /** The gate's verdict on a cell, by its permanent name, or on the world's own records (null). Ask between commits. */
  async verdictOn(cell: Address | null, at: number): Promise<ReadVerdict> {
    const id = cell === null ? '' : cell.join('\0');
    const kept = this.#kept.get(id);
    if (kept !== undefined && this.#stands(kept, at)) return kept.verdict;
    const fresh = await this.#ask(cell, at);
    if (this.#kept.size >= READ_VERDICTS_MAX) this.#kept.clear();
    this.#kept.set(id, fresh);
    return fresh.verdict;
  }

  async #ask(cell: Address | null, at: number): Promise<Kept> {
    const { table } = this;
    return loaded(table, () => {
      const from: [LeafKey, unknown][] = [];
      const get = <L>(key: LeafKey<L>): L | undefined => {
        const leaf = table.get(key);
        from.push([key, leaf]);
        return leaf;
      };
      const rules = worldOf(get(WORLD_KEY));
      return { verdict: gateRead({ overlay: { get }, rules, at }, this.who, cell), from };
    });
  }

  #stands({ verdict, from }: Kept, at: number): boolean {
    if (verdict.allow && verdict.until !== null && at >= verdict.until) return false;
    return from.every(([key, leaf]) => this.#residentIs(key, leaf));
  }

  /** A leaf that was dropped meanwhile is loaded again as another object: the gate is asked again. */
  #residentIs(key: LeafKey, leaf: unknown): boolean {
    try {
      return this.table.get(key) === leaf;
    } catch (thrown) {
      if (thrown instanceof Miss) return false;
      throw thrown;
    }
  }
}
