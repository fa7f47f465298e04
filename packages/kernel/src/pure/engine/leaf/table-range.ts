/** Checks ranges of tables: callers may be untyped. */
import { isWhole } from '@reprise/contracts';
import type { TableRange } from '../../define/index.js';
import { TABLE_RANGE_MAX } from './bounds.js';
import { isCellKey } from './leaf-key.js';
import type { Span } from './table-tree.js';

/** The defect of a range; undefined for a valid one. */
export function rangeProblem(range: unknown): string | undefined {
  if (typeof range !== 'object' || range === null) return 'a range is {from?, after?, before?, limit?}';
  const { from, after, before, limit } = range as Partial<Record<keyof TableRange, unknown>>;
  for (const key of [from, after, before]) {
    if (key !== undefined && !isCellKey(key)) return 'a range is bounded by keys, texts of 1 to 256 bytes';
  }
  if (from !== undefined && after !== undefined) return 'a range begins either at a key or after one';
  if (limit === undefined) return undefined;
  const counts = isWhole(limit, 1) && limit <= TABLE_RANGE_MAX;
  return counts ? undefined : `a range has 1 to ${TABLE_RANGE_MAX} entries`;
}

/** A range in the form that the tree reads. */
export function spanOf({ from, after, before, limit = TABLE_RANGE_MAX }: TableRange): Span {
  return { low: after ?? from, open: after !== undefined, before, limit };
}
