/**
 * The ids of traces and spans: digests of what they are of, so that every export of a journal names a span alike.
 *
 * Invariants
 * I1  A trace is named by its world, its cell, and a number that the cell never uses twice.
 * I2  A span is named by its world, its kind, and the record that began it: a record begins at most one span of a kind.
 */
import { toHex } from '@reprise/contracts';
import { hostSha256 } from '@reprise/kernel/store';

const encoder = new TextEncoder();

/** The cell that a trace is of, and a number: that of a run, or of the frame that began a tree, a project or a swarm. */
export type TraceKey = readonly [reducer: string, key: string, n: number];

/** The id of a trace, as 32 hex digits. */
export function traceIdOf(world: string, [reducer, key, n]: TraceKey): string {
  return idOf(['trace', world, reducer, key, n], 16);
}

/**
 * The id of a span, as 16 hex digits.
 *
 * @param place the record that began it, as `frame.record`
 */
export function spanIdOf(world: string, kind: string, place: string): string {
  return idOf(['span', world, kind, place], 8);
}

/** The first bytes of the SHA-256 of a list as JSON. Zeros alone are no valid id: such an id ends with a one. */
function idOf(parts: readonly (string | number)[], bytes: number): string {
  const id = toHex(hostSha256()(encoder.encode(JSON.stringify(parts))).subarray(0, bytes));
  return /^0+$/.test(id) ? `${id.slice(0, -1)}1` : id;
}
