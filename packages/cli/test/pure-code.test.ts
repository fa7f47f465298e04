/** Replays a world from its file alone. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openKernelWorld } from '@reprise/kernel';
import { pureCode } from '@reprise/sandbox';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import app from './apps/app.js';
import { app as app2 } from './apps/ledger-2.js';
import { command, run } from './run.js';
import { add, freshFolder, tamper } from './worlds.js';

const APPS = fileURLToPath(new URL('apps', import.meta.url));
const folder = freshFolder();
const world = folder.file('ledger.db');
const code1 = folder.file('ledger-1.pure.js');
const code2 = folder.file('ledger-2.pure.js');
const bundled = (module: string, out: string) => ['bundle', join(APPS, module), '-o', out, '-C', '@reprise/source'];

beforeAll(async () => {
  expect(await run(...bundled('app.ts', code1))).toMatchObject({ code: 0, err: '' });
  expect((await run(...bundled('ledger-2.ts', code2))).code).toBe(0);
  {
    await using first = await openKernelWorld({ store: sqlite(world), app, code: pureCode(readFileSync(code1)) });
    for (const by of [1, 2, 3]) await add(first, by);
  }
  await using second = await openKernelWorld({ store: sqlite(world), app: app2, code: pureCode(readFileSync(code2)) });
  await add(second, 4);
});
afterAll(() => folder.remove());

describe('reprise verify --pure-code', () => {
  it('reprise verify --pure-code replays a file of two versions in a folder with no other file', async () => {
    const alone = folder.file('alone');
    mkdirSync(alone);
    writeFileSync(join(alone, 'run.db'), readFileSync(world));
    const { code, out, err } = await command(alone, 'verify', 'run.db', '--pure-code');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('run.db: replayed, identical\n');
    expect(out).toMatch(/^replayed with the code in the file \(sha256:[0-9a-f]{64}, sha256:[0-9a-f]{64}\): every/m);
    expect(out).toContain('replayed 7, unverified 0\nera 0 to 4: replayed\nera 5 to 6: replayed\n');
  });

  it('reprise verify --pure-code prints the digest of the code of each era as JSON', async () => {
    const { eras, replayed } = JSON.parse((await run('verify', world, '--pure-code', '--json')).out);
    expect(replayed).toBe(7);
    expect(eras[0].code).toMatch(/^[0-9a-f]{64}$/);
    const { digest } = JSON.parse((await run(...bundled('app.ts', code1), '--json')).out);
    expect(digest).toBe(`sha256:${eras[0].code}`);
  });

  it('reprise verify --pure-code executes no code without --pure-code, and reports the frames as unverified', async () => {
    const { code, out } = await run('verify', world);
    expect(code).toBe(1);
    expect(out).toContain('replayed 0, unverified 7\n');
  });

  it('reprise verify --pure-code reports a file without code', async () => {
    const path = folder.file('plain.db');
    await (await openKernelWorld({ store: sqlite(path), app })).close();
    expect((await run('verify', path, '--pure-code')).out).toContain('no era has its code in the file\n');
  });

  it('reprise verify --pure-code finds code that was changed in the file, and code that was removed from it', async () => {
    for (const [sql, code] of [
      ['UPDATE blob SET bytes = zeroblob(40) WHERE length(bytes) > 1500', 'blob_damaged'],
      ['DELETE FROM blob WHERE length(bytes) > 1500', 'blob_missing'],
    ] as const) {
      const path = folder.file(`${code}.db`);
      writeFileSync(path, readFileSync(world));
      tamper(path, sql);
      const ended = await run('verify', path, '--pure-code');
      expect([ended.code, ended.err.split(':')[0]]).toEqual([1, code]);
    }
  });
});

describe('reprise bundle', () => {
  it('reprise bundle prints the definitions of the code, its size, and the digest that manifests will link', async () => {
    const { code, out } = await run(...bundled('app.ts', code1));
    expect(code).toBe(0);
    expect(out).toMatch(/ledger-1\.pure\.js: \d+ bytes, sha256:[0-9a-f]{64}\ndefines demo\/Ledger@1\n$/);
  });

  it.each([
    ['a module that is not there', undefined, 'the module does not exist'],
    ['a module that does not parse', 'export default }', 'this module cannot be bundled'],
    ['a module that imports what is not there', 'import "./nowhere.js"', 'this module cannot be bundled'],
    [
      'a module that needs a host',
      'import { readFileSync } from "node:fs"; export const app = { text: readFileSync("x") };',
      'node:fs, imported by needs-host.ts',
    ],
    ['a module without an app', 'export const other = 1;', 'the module exports no app'],
  ])('reprise bundle refuses to bundle %s', async (name, source, what) => {
    const path = folder.file(name === 'a module that needs a host' ? 'needs-host.ts' : `${name.length}.ts`);
    if (source !== undefined) writeFileSync(path, source);
    const { code, err } = await run('bundle', path, '-o', folder.file('never.js'));
    expect([1, 2]).toContain(code);
    expect(err).toContain(what);
  });
});
