/** Reads tables for callers outside of a frame. */
import { type Address, RepriseError, type Value } from '@reprise/contracts';
import { copyValue } from '../../codec/index.js';
import type { TableRange } from '../../define/index.js';
import { damagedLeaves } from '../leaf/damage.js';
import { cellKey, tableKey } from '../leaf/leaf-key.js';
import { type LeafReader, Overlay } from '../leaf/leaves.js';
import type { TableNode } from '../leaf/table-node.js';
import { rangeProblem, spanOf } from '../leaf/table-range.js';
import { entriesIn } from '../leaf/table-tree.js';

/**
 * Entries of a cell's table, in order; empty without such a cell or table.
 *
 * @throws Miss for a leaf that must be loaded first; RepriseError `invalid_argument` for an invalid range
 */
export function readTable(
  leaves: LeafReader,
  address: Address,
  name: string,
  range: TableRange = {},
): [key: string, value: Value][] {
  const problem = rangeProblem(range);
  if (problem !== undefined) {
    throw new RepriseError('invalid_argument', 'invalid range of a table', { expected: problem, actual: range });
  }
  const cell = leaves.get(cellKey(address));
  const head = cell?.tables?.[name];
  if (cell === undefined || head === undefined) return [];
  const view = new Overlay(leaves); // it loads what comes next along with what it misses
  const keyOf = (id: number) => tableKey(address, name, cell.inc, id);
  const read = (id: number, ahead: readonly number[] = []): TableNode => {
    const node = view.get(keyOf(id), ahead.map(keyOf));
    if (node === undefined) throw damagedLeaves('a node of a table is missing', `node ${id}`);
    return node;
  };
  return entriesIn(head, { read }, spanOf(range)).map(([key, value]) => [key, copyValue(value)]);
}
