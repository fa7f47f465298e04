import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { command, run } from './run.js';
import { freshFolder, makeLedger, tamper } from './worlds.js';

const APP = fileURLToPath(new URL('apps/app.ts', import.meta.url));
const folder = freshFolder();
const world = folder.file('ledger.db');

beforeAll(async () => {
  await makeLedger(world);
});
afterAll(() => folder.remove());

describe('a path that is not a world', () => {
  const whole = () => readFileSync(world);
  const THINGS: readonly (readonly [string, number, string, (path: string) => unknown])[] = [
    ['nothing', 3, 'world_absent: the file does not exist', () => undefined],
    ['a path below a file', 3, 'world_absent: the file does not exist', () => undefined],
    ['a folder', 3, 'world_absent: the path is a folder', (path) => mkdirSync(path)],
    ['an empty file', 3, 'world_absent: the file contains no world', (path) => writeFileSync(path, '')],
    ['a text', 3, 'world_absent: the file is not a world', (path) => writeFileSync(path, 'Dear diary,\n'.repeat(99))],
    ['another database', 3, 'world_absent: the file is not a world', (path) => tamper(path, 'CREATE TABLE t (a)')],
    ['half a world', 1, 'journal_damaged: ', (path) => writeFileSync(path, whole().subarray(0, 20_000))],
    [
      'a world with a damaged schema',
      1,
      'journal_damaged: cannot open the store for reading',
      (path) => {
        // A page number in the schema that is beyond the end of the file.
        const bytes = whole();
        bytes.writeUInt8(0x7f, bytes.indexOf('blobblob') + 'blobblob'.length);
        writeFileSync(path, bytes);
      },
    ],
    ['a store without a frame', 3, 'world_absent: ', async (path) => (await sqlite(path).open()).close()],
    [
      'a newer store',
      3,
      'semantics_unknown: ',
      (path) => {
        writeFileSync(path, whole());
        tamper(path, 'PRAGMA user_version = 99');
      },
    ],
  ];

  it.each(THINGS)('every command fails for %s: exit code %i, %s', async (name, code, what, make) => {
    const path = name === 'a path below a file' ? `${world}/x` : folder.file(name);
    await make(path);
    const verbs = [['verify'], ['verify', '--json'], ['show', 'demo/Ledger@1/a', '--app', APP], ['tail']];
    for (const [verb, ...rest] of verbs as [string, ...string[]][]) {
      if (verb === 'tail' && name === 'a store without a frame') continue; // it prints no frame and succeeds
      const ended = await run(verb, path, ...rest);
      expect({ verb, code: ended.code }).toEqual({ verb, code });
      if (rest.includes('--json')) expect(JSON.parse(ended.out).error.code).toBe(what.split(':')[0]);
      else expect(ended.err).toContain(what);
      expect(ended.err).not.toMatch(/\n\s+at /);
    }
  });

  it('a process for an absent world exits with 3 and names the page of the error', async () => {
    const { code, out, err } = await command(folder.path, 'tail', 'nowhere.db');
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain('world_absent: the file does not exist\n  where       nowhere.db\n');
    expect(err).toContain('npx reprise explain world_absent');
  });
});

describe('wrong arguments', () => {
  it.each([
    [[], 'Usage: reprise'],
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['verify'], "missing required argument 'world'"],
    [['verify', world, 'more'], 'too many arguments'],
    [['verify', world, '--frob'], "unknown option '--frob'"],
    [['verify', world, '--expect', 'abc'], 'Expected sha256: and 64 hex digits.'],
    [['verify', world, '--expect', `sha1:${'0'.repeat(64)}`], 'Expected sha256: and 64 hex digits.'],
    [['verify', world, '--workers', '0'], 'Expected a whole number, 1 or more.'],
    [['verify', world, '--workers', '-1'], 'Expected a whole number, 1 or more.'],
    [['tail', world, '--from', '-1'], 'Expected a whole number, 0 or more.'],
    [['tail', world, '-n', '1.5'], 'Expected a whole number, 0 or more.'],
    [['tail', world, '--from', '9'.repeat(16)], 'Expected a whole number, 0 or more.'],
    [['show', world], "missing required argument 'what'"],
    [['show', world, 'zork'], 'unknown thing to show'],
    [['show', world, 'demo/Ledger/a'], 'unknown thing to show'],
    [['show', world, 'sha256:12'], 'too few digits of a digest'],
    [['show', world, 'deadbeef'], 'the digest is not in this world\n  found       deadbeef…'],
    [['show', world, '123456789012'], 'the frame does not exist'],
    [['verify', world, '--legacy', 'nope.mjs'], 'Set --legacy to the path'],
    [['check', world, '--against', 'nope.mjs'], 'Set --against to the path'],
    [['verify', world, '--app', folder.path], 'the path of the module is no file'],
    [['why', world, 'hello'], 'the world has no agent session'],
    [['why', world], "missing required argument 'what'\nUsage: reprise why [options] <world> <what>\n"],
    [['log', world, '--session', 's'], 'no session has this key'],
    [['backup', world, folder.file('nowhere/copy.db')], 'the folder of the copy does not exist'],
    [['verfy', world], '(Did you mean verify?)'],
    [[world], `${world} is a world. To read it: reprise log ${world}\n`],
    [['show', world, '6'], 'the frame does not exist\n  expected    0 to 5\n  found       6'],
    [['show', world, '1.9'], 'frame 1 has no such record'],
    [['show', world, `sha256:${'1'.repeat(64)}`], 'the digest is not in this world'],
    [['show', world, '1', '--at', '1'], '--at, --app and --legacy need the address of a cell'],
    [['show', world, 'demo/Ledger@1/a'], 'no app for this journal is at hand'],
    [['show', world, 'demo/Ledger@1/b', '--app', APP], 'the cell does not exist'],
    [['show', world, 'demo/Ledger@1/a', '--app', APP, '--at', '0'], 'the cell does not exist'],
    [['show', world, 'demo/Ledger@1/a', '--app', APP, '--at', '6'], 'expected    0 to 5\n  found       6'],
    [['show', world, 'demo/Other@1/a', '--app', APP], 'the app has no such reducer'],
  ])('a command exits with 2 for the arguments %j', async (args, what) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(what);
    expect(err).not.toMatch(/\n\s+at /);
  });

  it('a process with wrong arguments exits with 2', async () => {
    const { code, err } = await command(folder.path, 'verify', world, '--expect', 'abc');
    expect(code).toBe(2);
    expect(err).toContain('--expect');
  });
});

describe('modules that are no app', () => {
  it.each([
    ['throws', "throw new Error('boom')", 'the module throws while it loads\n', 'because     Error: boom\n'],
    ['does not parse', 'export default }', 'the module throws while it loads\n', 'shows the line.\n'],
    ['exports nothing', '1', 'the module exports no app\n', 'found       no exports\n'],
    [
      'exports something else',
      'export const app = 1',
      'the module exports no app\n',
      'found       no app among its exports: app\n',
    ],
    ['never finishes loading', 'await new Promise(() => {})', 'a module never finishes loading', 'exports the app'],
    ['ends the process', 'process.exit(0)', 'a module ended the process before', 'found       process.exit(0)\n'],
  ])('a command exits with 2 and says what to do when the module of --app %s', async (name, source, ...expected) => {
    const path = folder.file(`${name.replaceAll(' ', '-')}.mjs`);
    writeFileSync(path, source);
    const { code, out, err } = await command(folder.path, 'verify', world, '--app', path);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    for (const text of expected) expect(err).toContain(text);
    expect(err).toContain('  what to do  ');
    expect(err).not.toContain('node:internal');
  });

  it('a command with --json reports a module that ends the process as JSON', async () => {
    const path = folder.file('exits.mjs');
    writeFileSync(path, 'process.exit(0)');
    const { code, out } = await command(folder.path, 'verify', world, '--app', path, '--json');
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      error: { code: 'invalid_argument', actual: 'process.exit(0)' },
    });
  });
});

describe('a path that is no world', () => {
  it('an error names the worlds of the folder', async () => {
    const { code, err } = await run('log', folder.file('wrold.db'));
    expect(code).toBe(3);
    expect(err).toContain(`  what to do  Give the path of a world’s file: `);
    expect(err).toContain(world);
    expect((await run('log', folder.path)).err).toContain(world);
  });
});

describe('help', () => {
  it('reprise prints help with exit code 0 and lists the exit codes', async () => {
    for (const args of [['--help'], ['verify', '--help'], ['tail', '-h'], ['show', '--help']]) {
      const { code, out, err } = await run(...args);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      for (const line of ['0  fine', '1  a finding', '2  wrong use', '3  the world cannot be read'])
        expect(out).toContain(line);
    }
    expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('wrong words', () => {
  it('a wrong word on the command line is repeated with its control characters as escapes', async () => {
    for (const args of [
      ['nope\u001b[2J'],
      ['show', world, '2', '--b\u001b[2J'],
      ['log', world, '--from', '\u001b[2J'],
    ]) {
      const { code, err } = await run(...args);
      expect(code).toBe(2);
      expect(err).toContain('\\u001b[2J');
      expect(err).not.toContain('\u001b');
    }
  });
});
