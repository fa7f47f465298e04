/**
 * The state that a delivery leaves, without another look at what it left as it was.
 *
 * Invariants
 * N1  The result and the refusal are those of normal form and schema of the whole state: what is the same object as in a
 *     state that was checked against this very schema fits it, in the same place.
 * N2  What is remembered of a state never decides anything: a state that is not known is looked at whole.
 * N3  All of a cell but its state is made by the kernel, in normal form (fold/F3), so it is only counted.
 */
import type { Value } from '@reprise/contracts';
import { byteLength, nextValue } from '../../codec/index.js';
import type { ReducerDefinition } from '../../define/index.js';
import { checkNext, type SchemaNode } from '../../schema/index.js';
import { LEAF_BYTES_MAX } from '../leaf/bounds.js';
import type { CellLeaf, CellState } from '../leaf/leaves.js';

/** What is known of a state: the schema that it fits as it is, and how many bytes it takes at most. */
interface Known {
  readonly schema: SchemaNode;
  readonly bytesMax: number;
}

const known = new WeakMap<CellState, Known>();

/** How many lists and maps are around a state in its leaf. */
const STATE_DEPTH = 1;

/**
 * Remembers a state that fits the schema of its reducer as it is, and holds no bytes.
 *
 * @param bytesMax how many canonical bytes it takes at most: those of its cell
 */
export function rememberState({ state: schema }: ReducerDefinition, state: CellState, bytesMax: number): void {
  known.set(state, { schema, bytesMax });
}

/**
 * A cell with the state that a draft holds, in normal form; it shares with the state before what is equal.
 *
 * @param before the state that the draft is a copy of
 * @param cell the cell as it will be, its state the draft, all else in normal form
 * @returns undefined when the whole must be looked at: it is too large, is no value, or nothing is known of the state
 */
export function nextCell(reducer: ReducerDefinition, before: CellState, cell: CellLeaf): CellLeaf | undefined {
  const last = known.get(before);
  if (last?.schema !== reducer.state) return undefined;
  const next = nextValue(before, cell.state, STATE_DEPTH);
  if (next === undefined || next.hasBytes) return undefined;
  const checked = checkNext(reducer.state, next.value, before);
  if (!checked.ok || checked.value !== next.value) return undefined;
  const state = next.value as CellState;
  if (isUnwritable(cell.timers) || isUnwritable(cell.tables)) return undefined;
  const after = { ...cell, state };
  const restBytes = byteLength({ ...cell, state: NOTHING } as unknown as Value);
  const bytesMax = boundOf(after, restBytes, last.bytesMax + next.added);
  if (bytesMax === undefined) return undefined;
  known.set(state, { schema: last.schema, bytesMax });
  return after;
}

const NOTHING: CellState = {};

/** Whether the names of timers or tables include the one that no map may have: the author's fault, and found as such. */
function isUnwritable(named: object | undefined): boolean {
  return named !== undefined && Object.hasOwn(named, '__proto__');
}

/** How many bytes the state takes at most, counted anew when it might not fit; undefined when the cell does not fit. */
function boundOf(cell: CellLeaf, restBytes: number, bytesMax: number): number | undefined {
  if (restBytes + bytesMax <= LEAF_BYTES_MAX) return bytesMax;
  return byteLength(cell as unknown as Value) <= LEAF_BYTES_MAX ? byteLength(cell.state) : undefined;
}
