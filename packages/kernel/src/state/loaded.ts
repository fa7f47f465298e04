import { RepriseError } from '@reprise/contracts';
import { Miss } from '../pure/engine/index.js';
import type { LeafTable } from './leaf-table.js';

/**
 * The number of folds abandoned for one frame. A pure fold misses each leaf once, and no frame touches nearly as many.
 * An impure fold that invents another key each time would be repeated for ever, and nothing else would run.
 */
const ABANDONED_MAX = 16_384;

/**
 * Folds a frame and loads each missing leaf: folding is pure, so an abandoned fold costs only its time.
 *
 * @throws RepriseError `nondeterminism` when the fold asks for another leaf on every try
 */
export async function loaded<T>(table: LeafTable, fold: () => T): Promise<T> {
  for (let abandoned = 0; abandoned < ABANDONED_MAX; abandoned++) {
    try {
      return fold();
    } catch (thrown) {
      if (!(thrown instanceof Miss)) throw thrown;
      await table.load(thrown.key);
      for (const key of thrown.next) await table.read(key);
    }
  }
  throw new RepriseError('nondeterminism', 'the same frame asked for another cell each time that it was folded', {
    hint: 'A reducer sends to an address made from a random number, a clock or a captured variable. Use ctx.id(label).',
  });
}
