/** Machines that the store is put on: one that tells what is done to it, and ones that leave out a sync. */
import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Driver } from '../src/database/driver.js';
import { MACHINE, nodeFs, type Ports, type StoreFs } from '../src/database/ports.js';
import type { Call } from './sync-order.js';

/** Which sync is left out. */
export const OMISSIONS = ['the bytes of a blob', 'the folder of a blob', 'the folders above', 'the log'] as const;

/** One of {@link OMISSIONS}. */
export type Omission = (typeof OMISSIONS)[number];

/** A machine that leaves a sync out, or none. */
export function carelessMachine(driver: Driver, omission?: Omission): Ports {
  const fs: StoreFs = {
    ...nodeFs,
    open: (async (path: string, ...rest: []) => {
      const handle = await open(path, ...rest);
      const isFolder = (await handle.stat()).isDirectory();
      const leavesOut = omission === (isFolder ? 'the folder of a blob' : 'the bytes of a blob');
      if (leavesOut) handle.sync = async () => undefined;
      return handle;
    }) as StoreFs['open'],
    ...(omission === 'the folders above' ? { syncFolder: () => undefined } : {}),
  };
  const unsynced: Driver = {
    ...driver,
    open: (path, mode) => {
      const db = driver.open(path, mode);
      const exec = (sql: string): void => db.exec(sql.replace('synchronous = FULL', 'synchronous = NORMAL'));
      return { ...db, exec };
    },
  };
  return { ...MACHINE, fs, driver: async () => (omission === 'the log' ? unsynced : driver) };
}

/** A machine that tells what is done to its files; not what SQLite does, which has its own way to them. */
export function toldMachine({ fs, ...machine }: Ports, tell: (call: Call) => void): Ports {
  const told: StoreFs = {
    ...fs,
    open: (async (path: string, flags: string | number) => {
      const handle = await fs.open(path, flags);
      if (flags === 'w') tell({ call: 'make', path });
      return toldHandle(handle, path, tell);
    }) as StoreFs['open'],
    mkdir: (async (path: string, options: { recursive: true }) => {
      const first = await fs.mkdir(path, options);
      if (first === undefined) return first;
      for (let made = path; made.length >= first.length; made = dirname(made)) tell({ call: 'folder', path: made });
      return first;
    }) as StoreFs['mkdir'],
    rename: async (from, to) => {
      await fs.rename(from, to);
      tell({ call: 'move', path: String(from), to: String(to) });
    },
    rm: async (path, options) => {
      const isThere = existsSync(path);
      await fs.rm(path, options);
      if (isThere) tell({ call: 'remove', path: String(path) });
    },
    syncFolder: (path) => {
      fs.syncFolder(path);
      if (fs.syncFolder === nodeFs.syncFolder) tell({ call: 'sync', path });
    },
  };
  return { ...machine, fs: told };
}

function toldHandle(handle: FileHandle, path: string, tell: (call: Call) => void): FileHandle {
  const [write, sync] = [handle.writeFile.bind(handle), handle.sync.bind(handle)];
  const isLeftOut = Object.hasOwn(handle, 'sync');
  handle.writeFile = (async (bytes: Uint8Array) => {
    tell({ call: 'write', path });
    await write(bytes);
  }) as FileHandle['writeFile'];
  handle.sync = async () => {
    await sync();
    if (!isLeftOut) tell({ call: 'sync', path });
  };
  return handle;
}
