/** A tree that sets aside for a launch what its node may use, although the tree has less left: a bundle of its own. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from '../bundle.js';
import type { playBudgets } from './budget.js';

const LEDGER = fileURLToPath(new URL('../../packages/org/src/pure/kit/ledger.ts', import.meta.url));

/** Builds the mutant, and loads it. */
export async function withoutReserve(): Promise<typeof playBudgets> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-tree-budget-'));
  const outfile = path.join(folder, 'mutant.mjs');
  const planted = {
    file: LEDGER,
    from: 'if (given >= least && given <= left) return',
    to: 'if (given >= least && given < Number.POSITIVE_INFINITY) return',
  };
  try {
    await bundle(fileURLToPath(new URL('budget.ts', import.meta.url)), outfile, { planted });
    const mutant = (await import(pathToFileURL(outfile).href)) as { readonly playBudgets: typeof playBudgets };
    return mutant.playBudgets;
  } finally {
    await rm(folder, { recursive: true });
  }
}
