import { RepriseError } from '@reprise/contracts';
import type { MaybePromise } from '../ports/time/maybe-promise.js';
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
export function loaded<T>(table: LeafTable, fold: () => T): MaybePromise<T> {
  const folded = foldOrMiss(fold);
  return folded instanceof Miss ? loadedAfter(folded, table, fold) : folded;
}

async function loadedAfter<T>(first: Miss, table: LeafTable, fold: () => T): Promise<T> {
  let miss = first;
  for (let abandoned = 1; abandoned < ABANDONED_MAX; abandoned++) {
    await table.load(miss.key);
    for (const key of miss.next) await table.read(key);
    const folded = foldOrMiss(fold);
    if (!(folded instanceof Miss)) return folded;
    miss = folded;
  }
  throw new RepriseError('nondeterminism', 'the same frame asked for another cell each time that it was folded', {
    hint: 'A reducer sends to an address made from a random number, a clock or a captured variable. Use ctx.id(label).',
  });
}

function foldOrMiss<T>(fold: () => T): T | Miss {
  try {
    return fold();
  } catch (thrown) {
    if (thrown instanceof Miss) return thrown;
    throw thrown;
  }
}
