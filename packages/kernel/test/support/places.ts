import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlite } from '@reprise/store-sqlite';
import { memory, type Store } from '../../src/index.js';

/** A kind of store, and an empty one of it for a test. */
export interface Place {
  readonly name: string;
  make(): { readonly store: Store; readonly remove: () => void };
}

/** The stores on which a promise must hold that depends on the store. */
export const PLACES: readonly Place[] = [
  { name: 'memory', make: () => ({ store: memory(), remove: () => undefined }) },
  {
    name: 'sqlite',
    make: () => {
      const dir = mkdtempSync(join(tmpdir(), 'reprise-kernel-'));
      return { store: sqlite(join(dir, 'w.db')), remove: () => rmSync(dir, { recursive: true, force: true }) };
    },
  },
];
