import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreSubject } from '@reprise/testkit/ports';
import { sqliteDriver } from '../src/database/driver.js';
import { type SqliteOptions, sqlite } from '../src/index.js';

/** A directory of its own, and how to remove it. */
export function freshDirectory(): { dir: string; remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-sqlite-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Runs SQL on a database behind the store's back. */
export async function tamper(path: string, sql: string): Promise<void> {
  const db = (await sqliteDriver()).open(path, 'write');
  db.exec(sql);
  db.close();
}

/** A subject for the port suites. */
export async function sqliteSubject(options: SqliteOptions = {}): Promise<StoreSubject> {
  const { dir, remove } = freshDirectory();
  const path = join(dir, 'a', 'w.db');
  mkdirSync(join(dir, 'a'));
  return {
    store: sqlite(path, options),
    again: () => sqlite(path, options),
    crashed: async () => {
      // By another process: were this one to open and close the files, it would drop SQLite's locks on them.
      execFileSync('cp', ['-r', join(dir, 'a'), join(dir, 'b')]);
      return sqlite(join(dir, 'b', 'w.db'), options);
    },
    damageBlob: async ({ hex }) => {
      const file = join(`${path}.blobs`, hex.slice(0, 2), hex);
      if (existsSync(file)) writeFileSync(file, readFileSync(file).fill(7, 0, 1));
      else await tamper(path, `UPDATE blob SET bytes = zeroblob(length(bytes)) WHERE digest = x'${hex}'`);
    },
    dispose: async () => remove(),
  };
}
