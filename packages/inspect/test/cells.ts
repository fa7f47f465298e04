/** The cells that a journal ever names. */
import { type Address, formatAddress, parseAddress } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';

/** The addresses of all cells of a world, also of those that have ended. */
export async function cellsIn(store: ReadonlyStore): Promise<readonly Address[]> {
  const found = new Set<string>();
  for await (const { seq, bytes } of store.journal.read(0)) {
    const state = readFrame(bytes, seq).all.at(-1);
    if (state?.kind !== 'state') continue;
    for (const [[kind, reducer, key]] of state.leaves)
      if (kind === 'cell') found.add(formatAddress([String(reducer), String(key)]));
  }
  return [...found].map((cell) => parseAddress(cell));
}
