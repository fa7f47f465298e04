/** The place of the trials of real processes: a folder, and the child as one file of plain JavaScript. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../../../conformance/bundle.js';

/** A folder for everything of a run. */
export interface Bench {
  readonly root: string;
  readonly program: string;
  dispose(): void;
}

/** Sets a bench up. */
export async function makeBench(): Promise<Bench> {
  const root = mkdtempSync(path.join(tmpdir(), 'reprise-faults-'));
  const program = path.join(root, 'orders-child.mjs');
  await bundle(fileURLToPath(new URL('orders-child.ts', import.meta.url)), program);
  return { root, program, dispose: () => rmSync(root, { recursive: true, force: true }) };
}
