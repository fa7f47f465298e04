import type { Value } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../../conformance/part.js';
import { encode, toHex } from '../../../../src/pure/codec/index.js';
import { isBranch, type TableNode } from '../../../../src/pure/engine/leaf/table-node.js';
import { entriesIn, type Span } from '../../../../src/pure/engine/leaf/table-tree.js';
import { hold, rerun, SEED } from '../../../support/laws/hold.js';
import {
  holdTable,
  modelOf,
  StoredNodes,
  spanOfModel,
  type TableOp,
  type TableParts,
  WHOLE,
  type WrittenTable,
  writeTable,
} from './table-law.js';

/** Keys that `<` orders otherwise than their bytes, and one of the longest. */
const ODD_KEYS = ['\u{10000}', '\ue000', '\uffff', 'é', 'z', '\0', 'k\0', 'x'.repeat(256)];

const keyOf = (n: number): string =>
  n % 97 === 0 ? (ODD_KEYS[(n / 97) % 8] as string) : `k${String(n).padStart(5, '0')}`;

/** A stretch of work: keys in some order, all set or all removed. */
const stretches = fc.record({
  from: fc.nat(3_000),
  count: fc.oneof({ weight: 3, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.nat(800) }),
  order: fc.constantFrom<'up' | 'down' | 'mixed'>('up', 'down', 'mixed'),
  remove: fc.boolean(),
  large: fc.constantFrom(0, 0, 0, 1, 5),
});

const ops: fc.Arbitrary<TableOp[]> = fc
  .array(stretches, { minLength: 1, maxLength: 9, size: 'max' })
  .map((list) => list.flatMap(operations));

function operations({ from, count, order, remove, large }: typeof stretches extends fc.Arbitrary<infer T> ? T : never) {
  return Array.from({ length: count }, (_, i): TableOp => {
    const step = order === 'up' ? i : order === 'down' ? count - i : (i * 7_919) % 1_201;
    const key = keyOf(from + step);
    if (remove) return { do: 'delete', key };
    const value: Value = i % 11 === 0 ? { i, text: 'x'.repeat(large * 3_000) } : i;
    return { do: 'set', key, value };
  });
}

const runs = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 4 });
const bounds = fc.option(fc.nat(4_000).map(keyOf), { nil: undefined });
const spans: fc.Arbitrary<Span> = fc.record({
  low: bounds,
  open: fc.boolean(),
  before: bounds,
  limit: fc.integer({ min: 1, max: 256 }),
});

function lawFor(parts: TableParts) {
  return fc.property(ops, runs, runs, fc.array(spans, { maxLength: 8 }), (list, one, other, asked) => {
    const [first, second] = [writeTable(list, one, parts), writeTable(list, other, parts)];
    expect(shapeOf(first)).toEqual(shapeOf(second));
    const model = modelOf(list);
    holdTable(first, model);
    for (const span of asked) {
      const found = entriesIn(first.head, first.nodes, span);
      expect(toHex(encode(found))).toBe(toHex(encode(spanOfModel(model, span))));
    }
  });
}

/** Everything that a table is in bytes. */
function shapeOf({ head, nodes }: WrittenTable): unknown {
  return [head, [...nodes.stored].sort(([a], [b]) => a - b).map(([id, bytes]) => [id, toHex(bytes)])];
}

describe(`tables (seed ${SEED})`, () => {
  it('tables hold what a sorted map holds, and their shape depends on the operations alone [RED-27]', async () => {
    await hold(lawFor(WHOLE), { numRuns: 40 / stepOf(4), command: rerun('tables.test.ts') });
  });

  it('an operation reads the way down and no more, however many entries there are [RED-28]', () => {
    const loadsAt = (size: number): number => {
      const table = writeTable(
        Array.from({ length: size }, (_, i): TableOp => ({ do: 'set', key: `k${(i * 7_919) % size}`, value: i })),
        [64],
        WHOLE,
      );
      table.nodes.loads = 0;
      entriesIn(table.head, table.nodes, { low: `k${size >> 1}`, open: false, before: undefined, limit: 1 });
      table.nodes.flush();
      return table.nodes.loads;
    };
    expect([loadsAt(10), loadsAt(1_000), loadsAt(30_000)]).toEqual([1, 3, 4]);
  });

  it('keys in ascending order leave full nodes behind, and a shrinking table releases its nodes', () => {
    const rising = Array.from({ length: 3_200 }, (_, i): TableOp => ({ do: 'set', key: `k${10_000 + i}`, value: i }));
    const full = writeTable(rising, [1], WHOLE);
    expect(full.nodes.stored.size).toBeLessThan(110); // 100 full nodes of entries, and those above them
    const falling = rising.filter((_, i) => i % 100 !== 0).map(({ key }): TableOp => ({ do: 'delete', key }));
    const shrunk = writeTable([...rising, ...falling], [1], WHOLE);
    expect(shrunk.head.size).toBe(32);
    expect(shrunk.nodes.stored.size).toBeLessThan(8);
  });

  it('keys below all others are found, also when their node is split', () => {
    const falling = Array.from({ length: 3_000 }, (_, i): TableOp => ({ do: 'set', key: keyOf(3_000 - i), value: i }));
    holdTable(writeTable(falling, [7], WHOLE), modelOf(falling));
  });

  class KeepsDropped extends StoredNodes {
    override drop(id: number): void {
      if (id % 5 !== 0) super.drop(id);
    }
  }

  /** Its work depends on where deliveries end. */
  class Tiring extends StoredNodes {
    #writes = 0;

    override write(id: number, node: TableNode): void {
      this.#writes++;
      super.write(id, this.#writes % 40 === 0 && !isBranch(node) ? { ...node, bytes: node.bytes + 1 } : node);
    }

    override flush(): void {
      this.#writes = 0;
      super.flush();
    }
  }

  it.each<[string, Partial<TableParts>]>([
    ['leaves a removed node behind', { nodes: () => new KeepsDropped() }],
    [
      'forgets to remove now and then',
      { write: (tree, op) => (op.do === 'delete' && op.key.endsWith('7') ? true : WHOLE.write(tree, op)) },
    ],
    [
      'writes under a neighbouring key',
      { write: (tree, op) => WHOLE.write(tree, op.key.endsWith('13') ? { ...op, key: `${op.key}x` } : op) },
    ],
    [
      'orders by units instead of code points',
      {
        write: (tree, op) => WHOLE.write(tree, { ...op, key: op.key.replace('\u{10000}', '\ud7ff') }),
      },
    ],
    ['changes what it stored when a delivery has many writes', { nodes: () => new Tiring() }],
  ])('a mutant that %s is found', async (_, mutant) => {
    const found = hold(lawFor({ ...WHOLE, ...mutant }), { numRuns: 60, shrink: false, command: '' });
    await expect(found).rejects.toThrow();
  });
});
