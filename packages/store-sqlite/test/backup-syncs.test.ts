/** What a backup has made durable, and in which order, when it says that it is there. */
import fs, { readlinkSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join, relative } from 'node:path';
import { openKernelWorld } from '@reprise/kernel';
import { defineApp } from '@reprise/kernel/define';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sqlite } from '../src/index.js';
import { freshDirectory } from './fixtures.js';

/** Notes each file and folder that is synced, and each that gets its name, in their order. */
function watchSyncs(folder: string): readonly string[] {
  const seen: string[] = [];
  const { fsyncSync } = fs;
  const { rename } = promises;
  fs.fsyncSync = (handle) => {
    seen.push(`sync ${relative(folder, readlinkSync(`/proc/self/fd/${handle}`))}`);
    fsyncSync(handle);
  };
  promises.rename = async (from, to) => {
    seen.push(`name ${relative(folder, String(to))}`);
    await rename(from, to);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { fsyncSync });
    Object.assign(promises, { rename });
    syncBuiltinESMExports();
  });
  return seen;
}

describe('a backup', () => {
  it.skipIf(process.platform !== 'linux')(
    'a backup syncs each of its files and folders before they get their names, and the names last',
    async () => {
      const { dir, remove } = freshDirectory();
      onTestFinished(remove);
      const world = await openKernelWorld({ store: sqlite(join(dir, 'w.db')), app: defineApp({ reducers: [] }) });
      const { hex } = await world.content.put(new Uint8Array(70_000).fill(1));
      const seen = watchSyncs(dir);
      await world.backup(join(dir, 'copy.db'));
      const ofCopy = seen.filter((one) => /copy|^sync $/.test(one));
      await world.close();
      const group = `copy.db.part.blobs/${hex.slice(0, 2)}`;
      expect(ofCopy).toEqual([
        `sync ${group}/${hex}`,
        `sync ${group}`,
        'sync copy.db.part.blobs',
        'sync copy.db.part',
        'name copy.db.blobs',
        'name copy.db',
        'sync ',
      ]);
    },
  );
});
