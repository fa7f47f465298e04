/** The leaves of a world in memory: what is listed by kind is what was set, in the order of its last change. */
import type { Address } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { memory, openKernelWorld } from '../../src/index.js';
import { type LeafChange, type LeafKey, type LeafReader, namedIn } from '../../src/pure/engine/index.js';
import { askedKey, cellKey, effectKey, timerKey } from '../../src/pure/engine/leaf/leaf-key.js';
import { Overlay } from '../../src/pure/engine/leaf/leaves.js';
import { LeafTable, type UndoLog } from '../../src/state/leaf-table.js';
import { SEED } from '../pure/codec/seed.js';
import { ask, end, fail, lab, once, send, start } from '../support/lab.js';
import { ok, outside } from '../support/outside.js';

/** The cells that leaves name: by its number each leaf names others. */
const CELLS = ['x', 'y', 'z'].map((key): Address => ['lab/Cell@1', key]);

const KEYS: readonly LeafKey[] = [
  ...[1, 2, 3].map((n) => askedKey(['lab/Cell@1', 'x'], `q${n}`)),
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

/** A leaf that names cells as a question does, and as an effect that a cell settles. */
function leafOf(n: number): unknown {
  const [from, to] = [CELLS[n % 3], CELLS[Math.floor(n / 3) % 3]];
  return { n, from, to, ...(n === 9 ? {} : { settler: to }) };
}

/** Leaves as a plain map, which a change moves to the end. */
function set(model: Map<string, unknown>, id: string, leaf: unknown): void {
  model.delete(id);
  if (leaf !== undefined) model.set(id, leaf);
}

/** Leaves that name a cell are those among all that are listed. */
function holdNaming(leaves: LeafReader): void {
  for (const kind of ['asked', 'effect'] as const)
    for (const cell of CELLS) {
      const all = [...leaves.list(kind)].filter(({ key, leaf }) => namedIn(key, leaf).includes(cell));
      const found = [...leaves.naming(kind, cell)];
      const shown = (of: typeof found) => new Map(of.map(({ key, leaf }) => [key.id, leaf]));
      expect(shown(found)).toEqual(shown(all));
      expect(found).toHaveLength(all.length);
    }
}

describe('the leaves of a world', () => {
  it(`whatever frames change and take back, leaves are listed, by kind and by the cells that they name, as a plain map has them (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 30 }), (frames) => {
        const table = new LeafTable({} as never); // without a snapshot nothing is read from its map
        const model = new Map<string, unknown>();
        for (const { changes, isTakenBack } of frames) {
          const undo: UndoLog = new Map();
          const made = changes.map(([at, n]): LeafChange => {
            const key = KEYS[at] as LeafKey;
            return { key, before: table.get(key), after: n === null ? undefined : leafOf(n) };
          });
          const overlay = new Overlay(table);
          for (const { key, after } of made) overlay.set(key, after);
          holdNaming(overlay); // of a frame that is being folded
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
          holdNaming(table);
        }
      }),
      { seed: SEED, numRuns: 300 / stepOf(4) },
    );
  });
});

describe('a world with many open effects', () => {
  it('a cell that ends or fails has no effect of other cells read: the cost does not grow with the world', async () => {
    const { app } = lab({
      *call(input, plan) {
        yield* plan.awaitReceipt(plan.emitEffect(once, input));
      },
    });
    const adapter = outside(once);
    const world = await openKernelWorld({ store: memory(), app, adapters: [adapter] });
    for (let n = 0; n < 20; n++) await ask(world, `busy${n}`, [start('call')]);
    for (const key of ['ends', 'fails']) await ask(world, key, []);
    const list = vi.spyOn(LeafTable.prototype, 'list');
    try {
      await ask(world, 'ends', [send('fails', fail())]);
      await ask(world, 'ends', [end()]);
      expect(list.mock.calls.map(([kind]) => kind).filter((kind) => kind === 'asked' || kind === 'effect')).toEqual([]);
    } finally {
      list.mockRestore();
    }
    adapter.answerAll(() => ok(1));
    await world.close();
  });
});
