/** What another process sees of the last opening of a file. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineApp, openKernelWorld } from '@reprise/kernel';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MACHINE, type StoreFs } from '../src/database/ports.js';
import { sqlite, sqliteOn } from '../src/store.js';

const folder = mkdtempSync(join(tmpdir(), 'reprise-status-'));
const before = process.env.TMPDIR;
let count = 0;
let path = '';

beforeEach(() => {
  path = join(folder, `${count++}.db`);
  process.env.TMPDIR = folder; // where a disk takes no file
});
afterEach(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function statusNow() {
  const store = await sqlite(path).openReadonly();
  const status = await store.status?.();
  await store.close();
  return status;
}

describe('the status of a file', () => {
  it('a post is read by others until the next one takes its place, and is gone with the opening [JRN-41]', async () => {
    const open = await sqlite(path).open();
    expect(await statusNow()).toEqual({ writer: 'open' });
    await open.post?.('one\ntwo');
    expect(await statusNow()).toEqual({ writer: 'open', posted: 'one\ntwo' });
    await Promise.all(['three', 'four'].map((text) => open.post?.(text)));
    expect(await statusNow()).toEqual({ writer: 'open', posted: 'four' });
    await open.post?.(null);
    expect([await statusNow(), existsSync(`${path}-status`)]).toEqual([{ writer: 'open' }, false]);
    await open.post?.('five');
    await open.close();
    expect([await statusNow(), existsSync(`${path}-status`)]).toEqual([{ writer: 'closed' }, false]);
    await expect(open.post?.('late')).rejects.toMatchObject({ code: 'world_closed' });
  });

  it('what an earlier opening left behind is not read as a post of this one [JRN-42]', async () => {
    const first = await sqlite(path).open();
    await first.post?.('old');
    const left = readFileSync(`${path}-status`);
    await first.close();
    const second = await sqlite(path).open();
    for (const bytes of [left, Buffer.from(''), Buffer.from('\n\n\n'), Buffer.alloc(100, 0xff)]) {
      writeFileSync(`${path}-status`, bytes);
      expect(await statusNow()).toEqual({ writer: 'open' });
    }
    await second.close();
  });

  it('on a disk that takes no file, the post is in the folder of this user for temporary files [JRN-41]', async () => {
    const fs: StoreFs = {
      ...MACHINE.fs,
      open: async (file, ...rest) => {
        if (String(file).startsWith(`${path}-status`)) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
        return MACHINE.fs.open(file, ...rest);
      },
    };
    const open = await sqliteOn({ ...MACHINE, fs }, path).open();
    if (process.getuid === undefined) await expect(open.post?.('full')).rejects.toThrow('no space');
    else {
      await open.post?.('full');
      expect([await statusNow(), existsSync(`${path}-status`)]).toEqual([{ writer: 'open', posted: 'full' }, false]);
      await open.post?.('fuller');
      expect(await statusNow()).toEqual({ writer: 'open', posted: 'fuller' });
    }
    await open.close();
    expect(await statusNow()).toEqual({ writer: 'closed' });
  });

  it('a copy of an open file is not said to have lost its process [JRN-42]', async () => {
    await (await openKernelWorld({ store: sqlite(path), app: defineApp({ reducers: [] }) })).close();
    const open = await sqlite(path).open();
    await open.post?.('of the original');
    const copy = join(folder, 'copy.db');
    await sqlite(path).backup(copy);
    const store = await sqlite(copy).openReadonly();
    expect(await store.status?.()).toEqual({ writer: 'unknown' });
    await Promise.all([store.close(), open.close()]);
  });
});
