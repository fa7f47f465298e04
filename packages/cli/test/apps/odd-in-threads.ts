import { isMainThread } from 'node:worker_threads';
import { ledgerApp } from './ledger.js';

/** The amounts at which the reducer does something else in a thread. */
export const ODD = { exits: 1_001, takesMemory: 1_002, neverEnds: 1_003 } as const;

/** The same reducer, which behaves as long as it is in the first thread of its process. */
export const app = ledgerApp({
  sum: (total, by) => {
    if (!isMainThread) beOdd(by);
    return total + by;
  },
});

function beOdd(by: number): void {
  if (by === ODD.exits) process.exit(7);
  const kept: unknown[] = [];
  while (by === ODD.takesMemory) kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
  while (by === ODD.neverEnds);
}
