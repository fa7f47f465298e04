/** A lab's facts as a table: what the tests of views ask about. */
import { value } from '@reprise/contracts';
import * as z from 'zod';
import { defineProjection, type ProjectionDefinition } from '../../../src/index.js';

const said = z.strictObject({ word: value() });

/** What is said, counted by word; words in the order of how often they were said. */
export const words = defineProjection({
  name: 'lab/Words@1',
  row: z.strictObject({ count: z.int(), last: z.int(), by: z.string() }),
  from: { 'fact:lab/Said@1': said },
  indexes: {
    count: (row) => row.count,
    by: (row, key) => [row.by, row.last, String(key)],
    often: (row) => (row.count > 1 ? 'often' : undefined),
  },
  fold(rows, { cell, seq, value }) {
    const word = String(value.word);
    if (word === 'forget') rows.remove('forgotten');
    else rows.put(word, { count: (rows.get(word)?.count ?? 0) + 1, last: seq, by: cell?.[1] ?? 'nobody' });
  },
});

/** Every record, by kind: a view that changes with every frame. */
export const kinds = defineProjection({
  name: 'lab/Kinds@1',
  row: z.strictObject({ count: z.int(), lastAt: z.int() }),
  from: { '*': true },
  fold(rows, { record, at }) {
    rows.put(record.kind, { count: (rows.get(record.kind)?.count ?? 0) + 1, lastAt: at });
  },
});

/** The same words by another fold, under the same name. */
export const countedTwice: ProjectionDefinition<{ count: number }> = defineProjection({
  name: 'lab/Words@1',
  row: z.strictObject({ count: z.int() }),
  from: { 'fact:lab/Said@1': said },
  fold(rows, { value }) {
    const word = String(value.word);
    rows.put(word, { count: (rows.get(word)?.count ?? 0) + 2 });
  },
});
