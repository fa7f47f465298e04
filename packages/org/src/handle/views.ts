/** Projections over stores: what a search ranks by, and where items come from. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineProjection, projectionOnUse } from '@reprise/kernel';
import { didFact, linkedFact, storeFacts } from '../pure/store/index.js';

const count = z.int().min(0);
const { id: _id, ...item } = storeFacts['memory/Written@1'].shape;

/** What is known of an item, with the frame that stored it, and when. */
const itemRow = z.strictObject({ ...item, seq: count, at: count });

/** What is known of an item. */
export type ItemRow = z.infer<typeof itemRow>;

/** The facts that change what is known of items. */
const CHANGES = {
  'fact:memory/Written@1': storeFacts['memory/Written@1'],
  'fact:memory/Scored@1': storeFacts['memory/Scored@1'],
} as const;

/** `memory/Items@1`: every item of every store, under `[scope, id]`. */
export const memoryItems = projectionOnUse('memory/Items@1', () =>
  defineProjection({
    name: 'memory/Items@1',
    row: itemRow,
    from: CHANGES,
    fold(rows, entry) {
      if (entry.cell === null) return;
      const at = [entry.cell[1], entry.value.id];
      const row = rows.get(at);
      if (entry.from === 'fact:memory/Written@1') {
        const { id: _, ...item } = entry.value;
        rows.put(at, { ...item, seq: row?.seq ?? entry.seq, at: row?.at ?? entry.at });
      } else if (row !== undefined) {
        rows.put(at, { ...row, score: entry.value.score, last_used_at: entry.value.last_used_at });
      }
    },
  }),
);

/** The items of one row of ranks: a search reads the ranks of many items at once. */
export const RANKS_IN_ROW = 128;

/** What of an item its rank follows from, in a row of ranks: its score, its last use, and when it expires or 0. */
const rank = z.tuple([item.score, count, count]);

/** `memory/Ranks@1`: what the ranks of items follow from, under `[scope, number / 128]`, by the rest of the number. */
export const memoryRanks = projectionOnUse('memory/Ranks@1', () =>
  defineProjection({
    name: 'memory/Ranks@1',
    row: z.strictObject({ ranks: z.array(rank) }),
    from: CHANGES,
    fold(rows, entry) {
      if (entry.cell === null) return;
      const { id, score: points, last_used_at: used } = entry.value;
      const at = [entry.cell[1], Math.floor(id / 128)];
      const { ranks } = rows.get(at) ?? { ranks: [] };
      const place = id % 128;
      const known = ranks[place];
      const expires = entry.from === 'fact:memory/Written@1' ? (entry.value.expires_at ?? 0) : (known?.[2] ?? 0);
      while (ranks.length < place) ranks.push([0, 0, 0]);
      ranks[place] = [points, used, expires];
      rows.put(at, { ranks });
    },
  }),
);

/** `memory/Places@1`: where the places of organizations come from, under `[address, kind, id]`. */
export const memoryPlaces = projectionOnUse('memory/Places@1', () =>
  defineProjection({
    name: 'memory/Places@1',
    row: z.strictObject({
      title: linkedFact.shape.title,
      from: linkedFact.shape.from,
      text_ref: z.nullable(ref()),
      seq: count,
    }),
    from: { 'fact:memory/Linked@1': linkedFact },
    fold(rows, { cell, value, seq }) {
      if (cell === null) return;
      const { kind, id, title, from, text_ref = null } = value;
      rows.put([`${cell[0]}/${cell[1]}`, kind, id], { title, from, text_ref, seq });
    },
  }),
);

const { op, code, written } = didFact.shape;

/** `memory/Outcomes@1`: the outcomes of requests to stores and organizations, under `[address, tag]`. */
export const memoryOutcomes = projectionOnUse('memory/Outcomes@1', () =>
  defineProjection({
    name: 'memory/Outcomes@1',
    row: z.strictObject({ op, code, written }),
    from: { 'fact:memory/Did@1': didFact },
    fold(rows, { cell, value }) {
      if (cell === null) return;
      const { tag, ...outcome } = value;
      rows.put([`${cell[0]}/${cell[1]}`, tag], outcome);
    },
  }),
);

/** The outcome of a request. */
export type Did = Omit<z.infer<typeof didFact>, 'tag'>;
