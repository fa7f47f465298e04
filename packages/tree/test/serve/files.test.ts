/** Files as results: taken from inside one folder, and from nowhere else. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { files } from '../../src/serve/index.js';

let top: string;
let folder: string;

beforeEach(() => {
  top = mkdtempSync(path.join(tmpdir(), 'files-'));
  folder = path.join(top, 'work');
  mkdirSync(path.join(folder, 'out'), { recursive: true });
  writeFileSync(path.join(top, 'outside.md'), 'outside');
  writeFileSync(path.join(folder, 'out', 'a.md'), 'inside ü');
});

afterEach(() => rmSync(top, { recursive: true }));

const taken = async (name: string) => {
  const found = await files(folder).capture(name, 'survey');
  return 'bytes' in found ? new TextDecoder().decode(found.bytes) : `refused: ${found.refused}`;
};

describe('files as results', () => {
  it('a file inside the folder is taken whole, also through a link that stays inside', async () => {
    symlinkSync('out/a.md', path.join(folder, 'link.md'));
    expect(await taken('out/a.md')).toBe('inside ü');
    expect(await taken('./out//a.md')).toBe('inside ü');
    expect(await taken('link.md')).toBe('inside ü');
  });

  it('a path that leads out, a folder, a missing file and a file of secrets are refused [TREE-22]', async () => {
    symlinkSync('../outside.md', path.join(folder, 'link.md'));
    symlinkSync('..', path.join(folder, 'up'));
    writeFileSync(path.join(folder, '.env'), 'KEY=1');
    expect(await taken('../outside.md')).toContain('must not contain ..');
    expect(await taken(path.join(top, 'outside.md'))).toContain('relative');
    expect(await taken('link.md')).toContain('leads out');
    expect(await taken('up/outside.md')).toContain('leads out');
    expect(await taken('out')).toContain('folder');
    expect(await taken('.')).toContain('folder');
    expect(await taken('none.md')).toContain('no such file');
    expect(await taken('a\0b')).toContain('NUL');
    expect(await taken('.env')).toContain('secrets');
  });

  it('a file of more than 16 MiB is refused, and one of 5 MB is taken', async () => {
    writeFileSync(path.join(folder, 'large'), '');
    truncateSync(path.join(folder, 'large'), 16 * 1024 * 1024 + 1);
    expect(await taken('large')).toBe('refused: it has 16777217 bytes; at most 16777216 are taken');
    truncateSync(path.join(folder, 'large'), 5_000_000);
    expect((await taken('large')).length).toBe(5_000_000);
  });
});
