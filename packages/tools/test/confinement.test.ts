import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { caller, put, sandbox } from './sandbox.js';

const READS = ['list_files', 'read_file', 'grep'] as const;
const argsFor = (tool: string, at: string) =>
  tool === 'grep' ? { path: at, pattern: 'e' } : tool === 'write_file' ? { path: at, text: 'x' } : { path: at };

describe('a workspace is confined to its folder', () => {
  it.each([
    '..',
    '../secret.txt',
    'a/../../secret.txt',
    './../secret.txt',
    'a/b/../../../secret.txt',
    '/etc/passwd',
    '//etc/passwd',
    'C:\\secret.txt',
    'c:secret.txt',
    '\\\\host\\share',
    'a\0b',
  ])('the path %j is refused by every tool [TOOL-26]', async (given) => {
    const { call, outside } = sandbox({ 'a/b/file.txt': 'here' });
    put(path.join(outside, 'secret.txt'), 'outside');
    for (const tool of [...READS, 'write_file']) {
      const answer = await call(tool, argsFor(tool, given));
      expect(answer).toMatchObject({ refused: true, text: expect.stringMatching(/^Refused: /) });
    }
    expect(readFileSync(path.join(outside, 'secret.txt'), 'utf8')).toBe('outside');
  });

  it('a symlink that leads out is refused, as the file itself and as a parent [TOOL-26]', async () => {
    const { call, outside, root } = sandbox({ 'in.txt': 'in' });
    put(path.join(outside, 'there/secret.txt'), 'outside');
    symlinkSync(path.join(outside, 'there/secret.txt'), path.join(root, 'file'));
    symlinkSync(path.join(outside, 'there'), path.join(root, 'folder'));
    symlinkSync('../there', path.join(root, 'relative'));
    for (const given of ['file', 'folder/secret.txt', 'folder', 'relative', 'relative/secret.txt']) {
      for (const tool of READS) {
        expect(await call(tool, argsFor(tool, given)), `${tool} ${given}`).toMatchObject({ refused: true });
      }
    }
    for (const given of ['file', 'folder/new.txt', 'relative/deep/new.txt']) {
      expect(await call('write_file', { path: given, text: 'x' })).toMatchObject({ refused: true });
    }
    expect(readFileSync(path.join(outside, 'there/secret.txt'), 'utf8')).toBe('outside');
    expect(existsSync(path.join(outside, 'there/new.txt'))).toBe(false);
    expect(existsSync(path.join(outside, 'there/deep'))).toBe(false);
  });

  it('writing through a dangling symlink is refused, and no file appears at its target', async () => {
    const { call, outside, root } = sandbox();
    symlinkSync(path.join(outside, 'born.txt'), path.join(root, 'dangling'));
    symlinkSync(path.join(outside, 'nowhere'), path.join(root, 'folder'));
    for (const given of ['dangling', 'folder/x.txt']) {
      expect(await call('write_file', { path: given, text: 'x' })).toMatchObject({ refused: true });
    }
    expect(existsSync(path.join(outside, 'born.txt')) || existsSync(path.join(outside, 'nowhere'))).toBe(false);
  });

  it('a symlink that stays inside is followed, and its target is checked', async () => {
    const { call, root } = sandbox({ 'real/file.txt': 'inside', '.env': 'TOKEN=1' });
    symlinkSync('real', path.join(root, 'alias'));
    symlinkSync('.env', path.join(root, 'innocent.txt'));
    expect((await call('read_file', { path: 'alias/file.txt' })).text).toContain('inside');
    const written = await call('write_file', { path: 'alias/new.txt', text: 'n' });
    expect(written.text).toContain('Wrote real/new.txt');
    const secret = await call('read_file', { path: 'innocent.txt' });
    expect(secret).toMatchObject({ refused: true, text: expect.stringContaining('secrets') });
  });

  it('a cycle of symlinks is refused without hanging', async () => {
    const { call, root } = sandbox({ 'a/file.txt': 'x' });
    symlinkSync('two', path.join(root, 'one'));
    symlinkSync('one', path.join(root, 'two'));
    symlinkSync('..', path.join(root, 'a/up'));
    for (const tool of [...READS, 'write_file']) {
      expect(await call(tool, argsFor(tool, 'one'))).toMatchObject({ refused: true });
    }
    const listed = (await call('list_files', { depth: 32 })).text;
    expect(listed.split('\n').filter((line) => line.startsWith('link'))).toHaveLength(3);
    expect(listed).not.toContain('a/up/');
  });

  it('a special file is refused, without hanging on a pipe', async () => {
    const { call, root } = sandbox({ 'folder/x': '1' });
    execFileSync('mkfifo', [path.join(root, 'pipe')]);
    expect(await call('read_file', { path: 'pipe' })).toMatchObject({ refused: true });
    expect(await call('write_file', { path: 'pipe', text: 'x' })).toMatchObject({ refused: true });
    expect((await call('read_file', { path: 'folder' })).text).toContain('it is a folder');
    expect((await call('write_file', { path: 'folder', text: 'x' })).text).toContain('it is a folder');
    expect((await call('write_file', { path: '.', text: 'x' })).refused).toBe(true);
    expect((await call('write_file', { path: 'folder/x/y', text: 'x' })).text).toContain('not a folder');
    expect((await call('grep', { pattern: '1' })).text).toContain('1 matches in 1 files');
  });

  it('confinement holds while another process replaces a folder with a symlink [TOOL-26]', async () => {
    const { call, outside, root } = sandbox();
    put(path.join(outside, 'there/file.txt'), 'outside');
    put(path.join(root, 'swap/file.txt'), 'inside');
    let swapping = true;
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    // A write while neither exists creates the folder itself, so a step may fail: the next round repairs it.
    const attempt = (step: () => void) => {
      try {
        step();
      } catch {}
    };
    const swapper = (async () => {
      while (swapping) {
        attempt(() => renameSync(path.join(root, 'swap'), path.join(root, 'kept')));
        attempt(() => symlinkSync(path.join(outside, 'there'), path.join(root, 'swap')));
        await turn();
        attempt(() => rmSync(path.join(root, 'swap'), { recursive: true }));
        attempt(() => renameSync(path.join(root, 'kept'), path.join(root, 'swap')));
        for (let i = 0; i < 5; i++) await turn();
      }
    })();
    const answers: string[] = [];
    for (let i = 0; i < 300; i++) {
      answers.push((await call('read_file', { path: 'swap/file.txt' })).text);
      answers.push((await call('grep', { path: 'swap', pattern: 'outside' })).text.split('\n').slice(1).join());
      answers.push((await call('write_file', { path: `swap/new/${i}.txt`, text: 'x' })).text);
    }
    swapping = false;
    await swapper;
    expect(answers.filter((text) => text.includes('outside'))).toEqual([]);
    expect(readdirSync(path.join(outside, 'there'))).toEqual(['file.txt']);
  });

  it('a refusal never shows the location of the workspace on this machine', async () => {
    const { call, root, outside } = sandbox({ 'a.txt': '' });
    symlinkSync(outside, path.join(root, 'out'));
    for (const given of ['out/x', '../x', 'absent', 'a.txt/b']) {
      for (const tool of READS) expect((await call(tool, argsFor(tool, given))).text).not.toContain(outside);
    }
    const gone = caller({ root: path.join(outside, 'gone') });
    for (const tool of [...READS, 'write_file']) {
      const answer = await gone(tool, argsFor(tool, 'x'));
      expect(answer).toMatchObject({ refused: true, text: expect.stringContaining('does not exist') });
      expect(answer.text).not.toContain(outside);
    }
    expect(existsSync(path.join(outside, 'gone'))).toBe(false);
  });
});

describe('files that usually hold secrets', () => {
  const SECRETS = [
    '.env',
    '.env.local',
    '.ENV',
    'prod.env',
    'server.pem',
    'id_rsa',
    'id_rsa.pub',
    'sub/id_ed25519',
    'tls.key',
    '.npmrc',
    '.netrc',
    'credentials.json',
    'store.p12',
    '.git/config',
    '.ssh/known_hosts',
    '.aws/anything',
  ];

  it('secret files are not listed, searched, read or written [TOOL-26]', async () => {
    const { call, root } = sandbox({
      ...Object.fromEntries(SECRETS.map((name) => [name, 'needle'])),
      'plain.txt': 'needle',
      '.env.example': 'needle',
    });
    const listed = (await call('list_files', { depth: 5, limit: 1000 })).text;
    for (const name of SECRETS) {
      expect(
        listed.split('\n').some((line) => line.endsWith(` ${name}`)),
        name,
      ).toBe(false);
      for (const tool of ['read_file', 'grep', 'write_file']) {
        const answer = await call(tool, { ...argsFor(tool, name) });
        expect(answer.text, `${tool} ${name}`).toMatch(/^Refused: .*secrets/);
      }
      expect(readFileSync(path.join(root, name), 'utf8')).toBe('needle');
    }
    expect(listed).toContain('secret-like not shown');
    const found = (await call('grep', { pattern: 'needle' })).text;
    expect(found.split('\n').slice(1)).toEqual(['.env.example:1: needle', 'plain.txt:1: needle']);
  });

  it('writes into .git are refused, because a hook there would run', async () => {
    const { call, root } = sandbox();
    mkdirSync(path.join(root, '.git/hooks'), { recursive: true });
    writeFileSync(path.join(root, '.git/HEAD'), 'ref: refs/heads/main\n');
    for (const given of ['.git/hooks/pre-commit', '.GIT/hooks/x', '.git/HEAD']) {
      expect(await call('write_file', { path: given, text: 'x' })).toMatchObject({ refused: true });
    }
    expect((await call('read_file', { path: '.git/HEAD' })).text).toContain('refs/heads/main');
  });
});
