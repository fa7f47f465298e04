/** `GET /api/cells?at&prefix&limit&after`: the addresses of the cells, in their order. */
import { formatAddress } from '@reprise/contracts';
import { snapshotBefore } from '@reprise/kernel/inspect';
import { readFrame } from '@reprise/kernel/store';
import { frameOf } from '@reprise/operators/page';
import { AFTER, AT, LIMIT, optional, TEXT } from '../../ask/parameters.js';
import { type Asked, question } from '../../ask/question.js';
import type { CellsReport } from '../../contract/index.js';

export const cells = question(
  { at: AT, prefix: optional(TEXT), limit: LIMIT, after: AFTER },
  async (asked, { at, prefix = '', limit, after }): Promise<CellsReport> => {
    const frame = await frameOf(asked.store, at);
    const all = [...(await cellsAt(asked, frame))].filter((cell) => cell.startsWith(prefix)).sort();
    // The cell of a cursor may have ended: what stands behind it is the page all the same.
    const rest = after === undefined ? all : all.filter((cell) => cell > after);
    const page = rest.slice(0, limit);
    return { frame, cells: page, next: rest.length > page.length ? (page.at(-1) ?? null) : null };
  },
);

/** The addresses of the living cells after a frame, without a replay. */
export async function cellsAt({ store, signal }: Asked, frame: number): Promise<ReadonlySet<string>> {
  const snapshot = await snapshotBefore(store, frame);
  const found = new Set<string>();
  for await (const address of snapshot.addresses()) found.add(formatAddress(address));
  for await (const { seq, bytes } of store.journal.read(snapshot.seq + 1, frame)) {
    signal.throwIfAborted();
    const state = readFrame(bytes, seq).all.at(-1);
    if (state?.kind !== 'state') continue;
    for (const [[kind, reducer, key], changed] of state.leaves) {
      if (kind !== 'cell') continue;
      const isOver = changed === null || (Array.isArray(changed.live) && changed.live[0] === false);
      const cell = formatAddress([String(reducer), String(key)]);
      if (isOver) found.delete(cell);
      else found.add(cell);
    }
  }
  return found;
}
