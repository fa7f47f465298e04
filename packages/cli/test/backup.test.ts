import { existsSync } from 'node:fs';
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import app from './apps/app.js';
import { command, run } from './run.js';
import { add, freshFolder, makeLedger } from './worlds.js';

const folder = freshFolder();
afterAll(() => folder.remove());

describe('reprise backup', () => {
  it('reprise backup copies a world that another process has open and prints the head of the copy [JRN-34]', async () => {
    const path = folder.file('held.db');
    await makeLedger(path);
    await using world = await openKernelWorld({ store: sqlite(path), app });
    const head = await add(world, 9);
    const { code, out, err } = await command(folder.path, 'backup', 'held.db', 'copy.db');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`head sha256:${head}\n`);
    const verified = await run('verify', folder.file('copy.db'), '--integrity', '--expect', head);
    expect(verified.code).toBe(0);
    await add(world, 10);
  });

  it('reprise backup refuses a target that exists and a source that is not a world', async () => {
    const path = folder.file('one.db');
    await makeLedger(path);
    expect((await run('backup', path, folder.file('two.db'), '--json')).code).toBe(0);
    const again = await run('backup', path, folder.file('two.db'));
    expect([again.code, again.err]).toEqual([
      2,
      expect.stringMatching(/^invalid_argument: the backup path already exists/),
    ]);
    const absent = await run('backup', folder.file('none.db'), folder.file('three.db'));
    expect([absent.code, absent.err]).toEqual([3, expect.stringMatching(/^world_absent: /)]);
    expect(existsSync(folder.file('three.db'))).toBe(false);
  });
});
