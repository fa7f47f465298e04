/** A map for entries that come and go, beside the map of the language. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PassingMap } from '../../../src/ports/time/passing-map.js';

const SEED = 2026;

interface Value {
  readonly n: number;
}

const key = fc.integer({ min: 0, max: 6 });
const step = fc.oneof(
  fc.record({ set: key, to: fc.nat() }),
  fc.record({ remove: key }),
  fc.constant({ walk: true as const }),
);

describe('a map for entries that come and go', () => {
  it(`a map for passing entries answers as a Map does, in the same order, also while it is walked and written (seed ${SEED})`, () => {
    const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [map, model] = [new PassingMap<number, Value>(), new Map<number, Value>()];
      for (const given of steps) {
        if ('set' in given) {
          const value = { n: given.to };
          map.set(given.set, value);
          model.set(given.set, value);
        } else if ('remove' in given) {
          expect(map.delete(given.remove)).toBe(model.delete(given.remove));
        } else {
          expect(walked(map)).toEqual(walked(model));
        }
        for (let one = 0; one <= 6; one++)
          expect([map.get(one), map.has(one)]).toEqual([model.get(one), model.has(one)]);
        expect([map.size, [...map.keys()], [...map.values()]]).toEqual([
          model.size,
          [...model.keys()],
          [...model.values()],
        ]);
      }
    });
    fc.assert(property, { seed: SEED, numRuns: 300 });
  });

  it('a value that was replaced or removed is not among the values any more, and its key may come again', () => {
    const map = new PassingMap<string, Value>();
    map.set('a', { n: 1 });
    map.set('a', { n: 2 });
    expect([...map.values()]).toEqual([{ n: 2 }]);
    map.delete('a');
    expect([...map.values()]).toEqual([]);
    map.set('a', { n: 3 });
    expect(map.get('a')).toEqual({ n: 3 });
  });
});

/** Removes each entry when the walk comes to it, and adds one behind. */
function walked(map: PassingMap<number, Value> | Map<number, Value>): readonly (Value | undefined)[] {
  const seen: (Value | undefined)[] = [];
  let added = 0;
  for (const one of map.keys()) {
    seen.push(map.get(one));
    if (added++ < 2) map.set(one + 3, { n: one });
    map.delete(one);
    if (seen.length > 20) break;
  }
  return seen;
}
