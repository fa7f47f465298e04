/**
 * The calls through which the store uses the machine: a test may replace them, to see what is synced and in which
 * order.
 */
import { closeSync, constants, fsyncSync, openSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import { type Driver, sqliteDriver } from './driver.js';

/** The calls of the file system that decide what survives a loss of power. */
export interface StoreFs extends Pick<typeof promises, 'mkdir' | 'open' | 'readdir' | 'rename' | 'rm' | 'stat'> {
  /** Makes the names in a folder durable. Windows has no such call, and stores them with the file. */
  syncFolder(path: string): void;
}

/** The calls through which the store uses the machine. */
export interface Ports {
  readonly fs: StoreFs;
  driver(): Promise<Driver>;
  /** A time in milliseconds that never goes back, whatever is done to the clock of the machine. */
  monotonic(): number;
}

/** The file system of this machine. */
export const nodeFs: StoreFs = {
  mkdir: promises.mkdir,
  open: promises.open,
  readdir: promises.readdir,
  rename: promises.rename,
  rm: promises.rm,
  stat: promises.stat,
  syncFolder: (path) => {
    if (process.platform !== 'win32') sync(path, constants.O_RDONLY);
  },
};

/** The file system and the database driver of this machine. */
export const MACHINE: Ports = { fs: nodeFs, driver: sqliteDriver, monotonic: () => performance.now() };

/** Makes a file durable that is not open: closing it would drop SQLite's locks on it. */
export function syncFile(path: string): void {
  sync(path, constants.O_RDWR);
}

function sync(path: string, flags: number): void {
  const handle = openSync(path, flags);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
