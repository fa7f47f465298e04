/**
 * What somebody may read, asked again and again: an answer is kept for as long as the leaves from which it was computed
 * are the very same bytes, and the time of the rights is not over.
 */
import type { Address, Principal } from '@reprise/contracts';
import { decode } from '../../../pure/codec/index.js';
import {
  gateRead,
  type LeafKey,
  Miss,
  type ReadVerdict,
  WORLD_KEY,
  type WorldLeaf,
} from '../../../pure/engine/index.js';
import type { LeafTable } from '../../state/leaf-table.js';
import { loaded } from '../../state/loaded.js';

/** Answers that are kept for one reader. */
const READ_VERDICTS_MAX = 1_024;

interface Kept {
  readonly verdict: ReadVerdict;
  /** What it was computed from. */
  readonly from: readonly (readonly [key: LeafKey, bytes: Uint8Array | undefined])[];
}

/** What is asked for one reader. */
export class ReadRights {
  readonly #kept = new Map<string, Kept>();

  /** @param who as leaves name it */
  constructor(
    private readonly table: LeafTable,
    private readonly who: Principal,
  ) {}

  /** What the gate says of a cell, by the name that it keeps, or of the world's own (null). Asked between commits. */
  async verdictOn(cell: Address | null, at: number): Promise<ReadVerdict> {
    const id = cell === null ? '' : cell.join('\0');
    const kept = this.#kept.get(id);
    if (kept !== undefined && this.#stands(kept, at)) return kept.verdict;
    const fresh = await this.#ask(cell, at);
    if (this.#kept.size >= READ_VERDICTS_MAX) this.#kept.clear();
    this.#kept.set(id, fresh);
    return fresh.verdict;
  }

  #ask(cell: Address | null, at: number): Promise<Kept> {
    const { table } = this;
    return loaded(table, () => {
      const from: [LeafKey, Uint8Array | undefined][] = [];
      const get = (key: LeafKey): Uint8Array | undefined => {
        const bytes = table.get(key);
        from.push([key, bytes]);
        return bytes;
      };
      const rules = decode(get(WORLD_KEY) as Uint8Array) as unknown as WorldLeaf;
      return { verdict: gateRead({ overlay: { get }, rules, at }, this.who, cell), from };
    });
  }

  #stands({ verdict, from }: Kept, at: number): boolean {
    if (verdict.allow && verdict.until !== null && at >= verdict.until) return false;
    return from.every(([key, bytes]) => this.#residentIs(key, bytes));
  }

  /** A leaf that was let go meanwhile is loaded again, as other bytes that say the same: it is asked again. */
  #residentIs(key: LeafKey, bytes: Uint8Array | undefined): boolean {
    try {
      return this.table.get(key) === bytes;
    } catch (thrown) {
      if (thrown instanceof Miss) return false;
      throw thrown;
    }
  }
}
