import { Miss } from '../engine/index.js';
import type { LeafTable } from './leaf-table.js';

/** Folds, loading what the fold misses: folding is pure, so an abandoned fold costs only its time. */
export async function loaded<T>(table: LeafTable, fold: () => T): Promise<T> {
  for (;;) {
    try {
      return fold();
    } catch (thrown) {
      if (!(thrown instanceof Miss)) throw thrown;
      await table.load(thrown.key);
      for (const key of thrown.next) await table.read(key);
    }
  }
}
