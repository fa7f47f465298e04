/** The leaves of a world in memory: what is listed by kind is what was set, in the order of its last change. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LeafChange, LeafKey } from '../../../src/pure/engine/index.js';
import { cellKey, effectKey, timerKey } from '../../../src/pure/engine/leaf/leaf-key.js';
import { LeafTable, type UndoLog } from '../../../src/run/state/leaf-table.js';
import { SEED } from '../../pure/codec/seed.js';

const KEYS: readonly LeafKey[] = [
  ...[1, 2, 3, 4].map((n) => effectKey(`e${n}`)),
  ...[1, 2].map((due) => timerKey(due, ['lab/Cell@1', 'x'], -1, 'bell')),
  ...['x', 'y', 'z'].map((name) => cellKey(['lab/Cell@1', name])),
];

/** A frame's changes: which leaves, each with a number or gone; and whether the frame is taken back afterwards. */
const frame = fc.record({
  changes: fc.uniqueArray(fc.tuple(fc.nat(KEYS.length - 1), fc.option(fc.nat(9))), {
    selector: ([at]) => at,
    maxLength: 6,
  }),
  isTakenBack: fc.boolean(),
});

/** Leaves as a plain map, which a change moves to the end. */
function set(model: Map<string, unknown>, id: string, leaf: unknown): void {
  model.delete(id);
  if (leaf !== undefined) model.set(id, leaf);
}

describe('the leaves of a world', () => {
  it(`whatever frames change and take back, effects and timers are listed as a plain map has them (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 30 }), (frames) => {
        const table = new LeafTable({} as never); // without a snapshot nothing is read from its map
        const model = new Map<string, unknown>();
        for (const { changes, isTakenBack } of frames) {
          const undo: UndoLog = new Map();
          const made = changes.map(([at, n]): LeafChange => {
            const key = KEYS[at] as LeafKey;
            return { key, before: table.get(key), after: n === null ? undefined : { n } };
          });
          table.apply(made, undo);
          for (const { key, after } of made) set(model, key.id, after);
          if (isTakenBack) {
            table.undo(undo);
            for (const { key, before } of made) set(model, key.id, before);
          }
          for (const kind of ['effect', 'timer'] as const) {
            const expected = [...model].filter(([id]) => KEYS.some((key) => key.id === id && key.path[0] === kind));
            expect([...table.list(kind)].map(({ key, leaf }) => [key.id, leaf])).toEqual(expected);
          }
        }
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});
