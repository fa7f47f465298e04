/** Which troubles hold up which cells. */
import type { Address } from '@reprise/contracts';
import type { Trouble } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBelow, stallsOf } from '../../src/index.js';

const SEED = 640;
const name = fc.constantFrom('a', 'a/1', 'a~2', 'ab', 'b', 'b/a');
const cell: fc.Arbitrary<Address> = fc.tuple(fc.constantFrom('aos.agent/SessionReducer@1', 'tree/Tree@1'), name);
const about = { code: 'x', since: 1, waiting: 1 } as const;
const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  fc.constant<Trouble>({ kind: 'store_full', where: 'disk', since: 1, waiting: 1, code: 'store_full' }),
  fc.constant<Trouble>({ kind: 'world_ended', where: 'disk', ...about, waiting: 0, error: { name: 'E', message: '' } }),
  fc.constant<Trouble>({ kind: 'clock_jump', where: 'clock', code: 'clock_mismatch', since: 1, waiting: 0 }),
  cell.map<Trouble>((where) => ({ kind: 'cell_failed', where, ...about, code: 'threw', frame: 1, event: 'e' })),
  fc
    .array(cell, { maxLength: 3 })
    .map<Trouble>((cells) => ({ kind: 'service_failing', where: 'host', ...about, cells })),
);

describe('the troubles that hold up a part of a world', () => {
  it(`given random troubles (seed ${SEED}), a part is held up by those of the store, and by those whose cells are its own; an adversary matches names by their beginning [SES-38]`, () => {
    fc.assert(
      fc.property(fc.array(trouble), name, (troubles, part) => {
        const own = ({ kind, ...one }: Trouble): boolean => {
          if (kind === 'clock_jump') return false;
          if (kind !== 'cell_failed' && kind !== 'service_failing') return true;
          const cells = 'cells' in one ? one.cells : [one.where as Address];
          return cells.some(([, key]) => key === part || new RegExp(`^${part}[/~]`).test(key));
        };
        expect(stallsOf(troubles, isBelow([part]))).toEqual(troubles.filter(own));
      }),
      { seed: SEED },
    );
  });
});
