/** The key services of this package: their contract, and what files hold after a crash. */
import { execFileSync, spawn } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { testKeyService } from '@reprise/testkit/ports';
import { afterAll, describe, expect, it } from 'vitest';
import { program } from '../../../../scripts/lib/program.js';
import { fileKeys, memoryKeys } from '../../src/index.js';

const root = mkdtempSync(path.join(tmpdir(), 'reprise-keys-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const fresh = () => path.join(root, `f${++folders}`);

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

testKeyService({
  ...{ name: 'files', runner: { describe, it } },
  make: async () => {
    const folder = fresh();
    return {
      keys: fileKeys(folder),
      again: () => fileKeys(folder),
      holds: async () => filesOf(folder).map((file) => readFileSync(file)),
      failing: async () => {
        writeFileSync(`${folder}-file`, 'no folder');
        return fileKeys(path.join(`${folder}-file`, 'keys'));
      },
    };
  },
});

testKeyService({
  ...{ name: 'memory', runner: { describe, it } },
  make: async () => ({ keys: memoryKeys() }),
  skip: [],
});

describe('keys in files', () => {
  it('a key that a crash left under a second name is gone from both when it is destroyed', async () => {
    const folder = fresh();
    const [key = new Uint8Array()] = await fileKeys(folder).keep(['a']);
    const [file = ''] = filesOf(folder);
    linkSync(file, `${file}.left-by-a-crash`);
    await fileKeys(folder).destroy(['a']);
    const left = filesOf(folder);
    expect(left).toHaveLength(1);
    for (const one of left) expect(readFileSync(one).includes(Buffer.from(key))).toBe(false);
  });

  it('a file that was overwritten when the process died is no key, and the next key takes its place', async () => {
    const folder = fresh();
    await fileKeys(folder).keep(['a']);
    const [file = ''] = filesOf(folder);
    writeFileSync(file, new Uint8Array(32));
    expect(await fileKeys(folder).find(['a'])).toEqual([undefined]);
    const [next] = await fileKeys(folder).keep(['a']);
    expect(next?.some((byte) => byte !== 0)).toBe(true);
    expect(await fileKeys(folder).find(['a'])).toEqual([next]);
    expect(filesOf(folder)).toEqual([file]);
  });

  it('a file that is no key is an error with its name, and no key is made in its place', async () => {
    const folder = fresh();
    await fileKeys(folder).keep(['a']);
    const [file = ''] = filesOf(folder);
    writeFileSync(file, 'too short');
    for (const call of ['keep', 'find'] as const)
      await expect(fileKeys(folder)[call](['a'])).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('9 bytes'),
      });
  });

  it('files and folders of keys are for their user alone, and no temporary file is left', async () => {
    const folder = fresh();
    await fileKeys(folder).keep(Array.from({ length: 50 }, (_, i) => `k${i}`));
    const files = filesOf(folder);
    expect(files).toHaveLength(50);
    for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(files[0] ?? '')).mode & 0o777).toBe(0o700);
  });

  it('two processes that make the same keys at once agree on every one of them', async () => {
    const folder = fresh();
    const child = await program(new URL('keeper-child.ts', import.meta.url));
    const said = await Promise.all(
      [0, 1].map(
        () =>
          new Promise<string>((resolve) => {
            let text = '';
            const run = spawn(process.execPath, [child, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
            run.stdout.on('data', (data) => {
              text += data;
            });
            run.on('close', () => resolve(text));
          }),
      ),
    );
    expect(said[0]?.split('\n')).toHaveLength(301);
    expect(said[1]).toBe(said[0]);
    expect(execFileSync(process.execPath, [child, folder], { encoding: 'utf8' })).toBe(said[0]);
  });

  it('a destruction that has failed destroys nothing more: what its caller keeps after it stays', async () => {
    const folder = fresh();
    const keys = fileKeys(folder);
    await keys.keep(['first']);
    const [stuck = ''] = filesOf(folder);
    const names = Array.from({ length: 200 }, (_, i) => `k${i}`);
    await keys.keep(names);
    rmSync(stuck);
    mkdirSync(stuck); // what lies there cannot be removed as a file
    await expect(keys.destroy(['first', ...names])).rejects.toMatchObject({ code: 'store_failed' });
    const left = filesOf(folder);
    expect(left.length).toBeGreaterThan(0);
    for (let turns = 0; turns < 20; turns++) await keys.find(names);
    expect(filesOf(folder)).toEqual(left);
  });

  it('a name that leads elsewhere is refused', async () => {
    for (const name of ['', '/a', '../a', 'a b', 'ä', 'a\n', 'a'.repeat(513)])
      await expect(fileKeys(fresh()).keep([name])).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});
