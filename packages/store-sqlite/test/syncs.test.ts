/**
 * What is acknowledged survives a loss of power: the order of system calls, from outside where `strace` is there, and
 * from inside everywhere; each with machines that leave a sync out.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from '../../../scripts/lib/program.js';
import type { Connection } from '../src/database/driver.js';
import type { Ports } from '../src/database/ports.js';
import { carelessMachine, OMISSIONS, type Omission, toldMachine } from './careless-machine.js';
import { DRIVERS, driverNamed } from './drivers.js';
import { type Call, callsOf, unsynced } from './sync-order.js';
import { work } from './sync-work.js';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(realpathSync(tmpdir()), 'reprise-syncs-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const path = (): string => join(dir, 'deep', 'er', 'w.db');

/** `strace` may be there and may not be permitted. */
const canTrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

const CALLS =
  'openat,write,pwrite64,writev,pwritev,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat';

const CHILD = await program(new URL('sync-child.ts', import.meta.url));

function traced(driver: string, omission?: Omission): string[] {
  const trace = join(dir, 'trace');
  const node = [process.execPath, '--no-warnings', CHILD];
  const args = [path(), driver, ...(omission === undefined ? [] : [omission])];
  execFileSync('strace', ['-f', '-y', '-s', '80', '-e', `trace=${CALLS}`, '-o', trace, ...node, ...args], {
    stdio: 'pipe',
  });
  const calls = callsOf(readFileSync(trace, 'utf8'), dir);
  expect(calls.filter(({ call }) => call === 'ack').length).toBeGreaterThan(45);
  return unsynced(calls, dir);
}

/** What the store does to files by itself, and how it has SQLite sync what that does. */
async function watched(driver: string, omission?: Omission): Promise<string[]> {
  const calls: Call[] = [];
  const settings: unknown[] = [];
  const told = toldMachine(carelessMachine(await driverNamed(driver), omission), (call) => void calls.push(call));
  let db: Connection | undefined;
  const machine: Ports = {
    ...told,
    driver: async () => {
      const inner = await told.driver();
      const open: typeof inner.open = (file, mode) => {
        const made = inner.open(file, mode);
        if (mode !== 'write' || file !== path()) return made;
        calls.push({ call: 'make', path: file });
        db = made;
        return made;
      };
      return { ...inner, open };
    },
  };
  await work(machine, path(), (what) => {
    calls.push({ call: 'ack', path: what });
    if (what === 'closed') return;
    settings.push(['journal_mode', 'synchronous', 'fullfsync', 'checkpoint_fullfsync'].map((name) => pragma(db, name)));
  });
  const loose = settings.find((found) => JSON.stringify(found) !== JSON.stringify(['wal', 2, 1, 1]));
  return [...unsynced(calls, dir), ...(loose === undefined ? [] : [`settings ${JSON.stringify(loose)}`])];
}

function pragma(db: Connection | undefined, name: string): unknown {
  return db?.prepare(`PRAGMA ${name}`).get()?.[0];
}

describe.each(DRIVERS)('on %s', (driver) => {
  it('no acknowledged frame lacks a sync of the store: bytes, names, and how SQLite syncs [JRN-35]', async () => {
    expect(await watched(driver)).toEqual([]);
  });

  it.each(OMISSIONS)('a machine that does not sync %s is found', async (omission) => {
    expect(await watched(driver, omission)).not.toEqual([]);
  });

  it.skipIf(!canTrace)('no acknowledged frame lacks a sync in the system calls (needs strace)', () => {
    expect(traced(driver)).toEqual([]);
  });

  it.skipIf(!canTrace).each(OMISSIONS)(
    'a machine that does not sync %s is found from outside (needs strace)',
    (omission) => {
      expect(traced(driver, omission)).not.toEqual([]);
    },
  );
});
