/** Large blobs that are there already: a process that was killed may have named them without making the names durable. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeFs, type StoreFs } from '../src/database/ports.js';
import { BlobFiles } from '../src/packs/blob-files.js';

/** The file system, with something done at each sync of a folder. */
function watched(onFolder: (folder: string) => void): StoreFs {
  const opened = async (path: string, ...rest: []): Promise<FileHandle> => {
    const handle = await open(path, ...rest);
    if (!(await handle.stat()).isDirectory()) return handle;
    const { sync } = handle;
    handle.sync = async () => {
      onFolder(path);
      await sync.call(handle);
    };
    return handle;
  };
  return { ...nodeFs, open: opened as StoreFs['open'] };
}

const power = () => {
  throw new Error('the power is gone');
};

describe.skipIf(process.platform === 'win32')('a large blob that a killed process has named', () => {
  it('a known blob is acknowledged after a sync of its folder and of those above, once for each opening', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-known-blobs-'));
    try {
      const bytes = new Uint8Array(randomBytes(200_000));
      const hex = createHash('sha256').update(bytes).digest('hex');
      const path = join(folder, 'w.db');
      await expect(new BlobFiles(path, watched(power)).put(hex, bytes)).rejects.toMatchObject({ code: 'store_failed' });
      const synced: string[] = [];
      const again = new BlobFiles(
        path,
        watched((at) => synced.push(relative(folder, at))),
      );
      expect(await again.has(hex)).toBe(true);
      await again.put(hex, bytes);
      expect(synced).toEqual([join('w.db.blobs', hex.slice(0, 2)), 'w.db.blobs', '']);
      await again.put(hex, bytes);
      expect(synced).toHaveLength(3);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
