/** Views over the trees of a world, and over the launches of their nodes. */
import * as z from '@reprise/contracts/schema';
import { defineProjection, projectionOnUse } from '@reprise/kernel';
import { UNUSED } from '@reprise/org/contracts';
import { treeFacts } from '../pure/index.js';

const count = z.int().min(0);
const { goal, labels } = treeFacts['tree/Started@1'].shape;
const { status, code, spent } = treeFacts['tree/Ended@1'].shape;
const { n: _node, launch: _launch, ...launched } = treeFacts['tree/Launched@1'].shape;

const recordedTree = z.strictObject({
  ...{ goal, status, code, labels },
  /** How many nodes it has, questions included. */
  nodes: count,
  spent,
  /** When it was started, last changed and ended, in journal milliseconds. */
  ...{ started: count, updated: count, ended: z.nullable(count) },
  seq: count,
});

export type RecordedTree = z.infer<typeof recordedTree>;

/** Every tree, by its name. Index `updated`: the longest unchanged first. */
export const treeRows = projectionOnUse('tree/Trees@1', () =>
  defineProjection({
    name: 'tree/Trees@1',
    row: recordedTree,
    from: {
      'fact:tree/Started@1': treeFacts['tree/Started@1'],
      'fact:tree/NodeChanged@1': treeFacts['tree/NodeChanged@1'],
      'fact:tree/Budget@1': treeFacts['tree/Budget@1'],
      'fact:tree/Ended@1': treeFacts['tree/Ended@1'],
    },
    indexes: { updated: (row) => [row.updated, row.seq] },
    fold(rows, entry) {
      const name = entry.cell?.[1];
      if (name === undefined) return;
      const { seq, at } = entry;
      if (entry.from === 'fact:tree/Started@1') {
        const { goal, labels } = entry.value;
        return rows.put(name, {
          ...{ goal, labels, spent: UNUSED, seq, status: 'running', code: null, nodes: 0 },
          ...{ started: at, updated: at, ended: null },
        });
      }
      const row = rows.get(name);
      if (row === undefined) return;
      const changed = { ...row, seq, updated: at };
      if (entry.from === 'fact:tree/Budget@1') return rows.put(name, { ...changed, spent: entry.value.spent });
      if (entry.from === 'fact:tree/Ended@1') {
        const { status, code, spent } = entry.value;
        return rows.put(name, { ...changed, status, code, spent, ended: at });
      }
      const { n, status, paused } = entry.value;
      const nodes = Math.max(row.nodes, n);
      const isOpen = n === 1 && (status === 'pending' || status === 'active' || status.startsWith('waiting'));
      const open = { status: paused ? 'paused' : 'running', code: null, ended: null } as const;
      rows.put(name, { ...changed, nodes, ...(isOpen ? open : {}) });
    },
  }),
);

/** Every launch of a node, under `[tree, node, launch]`. */
export const launchRows = projectionOnUse('tree/Launches@1', () =>
  defineProjection({
    name: 'tree/Launches@1',
    row: z.strictObject({ ...launched, seq: count, at: count }),
    from: { 'fact:tree/Launched@1': treeFacts['tree/Launched@1'] },
    fold(rows, { cell, value, seq, at }) {
      if (cell === null) return;
      const { n, launch, ...row } = value;
      rows.put([cell[1], n, launch], { ...row, seq, at });
    },
  }),
);
