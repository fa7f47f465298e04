/** Tests the figures of a survey: they are those of the folder, without what surveys write themselves. */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openAiCompatible } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL_NAME, type ModelServer, startModelServer } from '../src/model-server.js';
import { ownOutput, WORLD } from '../src/own-output.js';
import { survey } from '../src/survey.js';

let scratch: string;
let server: ModelServer;
let count = 0;
beforeAll(async () => {
  scratch = mkdtempSync(path.join(tmpdir(), 'reprise-counting-'));
  server = await startModelServer();
});
afterAll(async () => {
  await server.close();
  rmSync(scratch, { recursive: true, force: true });
});

function folder(files: Readonly<Record<string, string>>): string {
  const root = path.join(scratch, `folder-${count++}`);
  for (const [name, text] of Object.entries(files)) write(root, name, text);
  return root;
}

function write(root: string, name: string, text: string): void {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function git(at: string, ...args: string[]): string {
  return execFileSync('git', ['-C', at, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' });
}

/** A repository with ignored files, a file that was not added, and odd names. */
function repository(): string {
  const root = folder({
    '.gitignore': 'dist/\n/worlds/\n*.log\n',
    'README.md': '# Kettle\n\nBoils water.\n',
    'src/boil.ts': 'export const boil = 1;\n',
    'src/two\nlines.ts': '// odd\n',
    'docs/größe.md': 'Größe\n',
    'dist/boil.js': 'generated();\n'.repeat(100),
    'debug.log': 'noise\n'.repeat(100),
    'empty.txt': '',
  });
  symlinkSync('README.md', path.join(root, 'LINK.md'));
  git(root, 'init', '-q');
  git(root, 'add', '.');
  git(root, 'commit', '-qm', 'all');
  return root;
}

/** `12 files in 3 folders, 1,234 bytes …` of the report, as numbers. */
async function figures(
  at: string,
  out: string,
  own?: readonly string[],
): Promise<{ files: number; bytes: number; text: string }> {
  mkdirSync(out, { recursive: true });
  const model = openAiCompatible({ baseUrl: server.baseUrl, model: MODEL_NAME });
  const store = sqlite(path.join(out, WORLD));
  const { report } = await survey({ folder: at, out, store, model, ...(own === undefined ? {} : { own }) });
  const text = readFileSync(report, 'utf8');
  const [, files = '', bytes = ''] = /^(\d+) files? in \d+ folders?, ([\d,]+) bytes/m.exec(text) ?? [];
  return { files: Number(files), bytes: Number(bytes.replaceAll(',', '')), text };
}

function listedByGit(at: string): { files: number; bytes: number } {
  const names = git(at, 'ls-files', '-z').split('\0').filter(Boolean);
  return { files: names.length, bytes: names.reduce((sum, name) => sum + lstatSync(path.join(at, name)).size, 0) };
}

describe('the figures of a survey', () => {
  it('the figures of a repository are those of git ls-files and the sum of the sizes of these files', async () => {
    const at = repository();
    const found = await figures(at, path.join(scratch, `out-${count++}`));
    expect(found).toMatchObject(listedByGit(at));
    expect(found.files).toBe(7);
    expect(found.text).toContain('counted by git ls-files');
    expect(found.text).toContain('Empty files: `empty.txt`');
  });

  it('a file that was not added counts, and one that was deleted does not', async () => {
    const at = repository();
    const before = listedByGit(at);
    write(at, 'new.txt', '12345');
    rmSync(path.join(at, 'docs/größe.md'));
    const { files, bytes } = await figures(at, path.join(scratch, `out-${count++}`));
    expect({ files, bytes }).toEqual({ files: before.files, bytes: before.bytes + 5 - Buffer.byteLength('Größe\n') });
  });

  it('what surveys write is left out of every second survey, wherever it is written', async () => {
    for (const inside of ['worlds/one', '.', 'out']) {
      const at = repository();
      git(at, 'rm', '-q', '--cached', '.gitignore');
      rmSync(path.join(at, '.gitignore')); // otherwise it would hide the output
      const out = path.join(at, inside);
      const own = [path.join(at, 'worlds'), out];
      const first = await figures(at, out, own);
      const second = await figures(at, out, own);
      expect(first.files).toBe(8);
      expect({ ...second, text: second.text.replace(/Listed in part.*/g, '') }).toEqual(first);
      expect(second.text).not.toContain('world.db');
      expect(second.text).not.toMatch(/SURVEY\.md/);
    }
  });

  it('the figures of a folder outside of a repository are those of all files below it', async () => {
    const at = folder({ 'a.txt': 'alpha', 'b/c.txt': 'gamma!', 'node_modules/x/index.js': 'no()' });
    const { files, bytes, text } = await figures(at, path.join(scratch, `out-${count++}`));
    expect({ files, bytes }).toEqual({ files: 2, bytes: 11 });
    expect(text).toContain('counted by a walk of all folders but node_modules, .git');
  });

  it('the figures of a folder that its repository ignores are those of all files below it', async () => {
    const at = path.join(repository(), 'dist');
    const { files, bytes } = await figures(at, path.join(scratch, `out-${count++}`));
    expect({ files, bytes }).toEqual({ files: 1, bytes: 1300 });
  });

  it('a program that the settings of a repository name is not started', async () => {
    const at = repository();
    const trace = path.join(scratch, 'started');
    const program = path.join(at, 'monitor.sh');
    writeFileSync(program, `#!/bin/sh\ntouch '${trace}'\n`, { mode: 0o755 });
    git(at, 'config', 'core.fsmonitor', program);
    await figures(at, path.join(scratch, `out-${count++}`));
    expect(() => lstatSync(trace)).toThrow('ENOENT');
  });
});

describe('the output of surveys', () => {
  it('the output of surveys inside of a folder is named relative to it, and is empty elsewhere', () => {
    expect(ownOutput('/a', ['/b'])).toEqual([]);
    expect(ownOutput('/a/b', ['/a'])).toEqual([]);
    expect(ownOutput('/a', ['/a/worlds', '/a/x/..y'])).toEqual(['worlds', 'x/..y']);
    expect(ownOutput('/a', ['/a'])).toEqual(
      expect.arrayContaining(['SURVEY.md', 'world.db', 'world.db-wal', 'tampered.db']),
    );
  });
});
