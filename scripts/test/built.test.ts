/** What runs in the clone starts from built files, but never from older ones than the sources. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildState, noteBuild } from '../lib/built.mjs';

let root: string;

function write(file: string, text = ''): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'reprise-built-'));
  for (const home of ['packages/kernel', 'examples/coding-agent', 'examples/ladder']) {
    write(`${home}/package.json`, '{}');
    write(`${home}/src/a.ts`, 'export const a = 1;');
  }
  for (const home of ['packages/kernel', 'examples/coding-agent']) write(`${home}/dist/a.js`);
  write('docs/errors/world_absent.md', 'A text.');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a build in the clone', () => {
  it('a build that was never noted is absent, and one that was noted is current', () => {
    expect(buildState(root)).toBe('absent');
    noteBuild(root);
    expect(buildState(root)).toBe('current');
  });

  it.each([
    ['changed', () => write('packages/kernel/src/a.ts', 'export const a = 2.0;')],
    ['touched', () => utimesSync(path.join(root, 'packages/kernel/src/a.ts'), 1, 1)],
    ['added', () => write('packages/kernel/src/deep/b.ts')],
    [
      'renamed',
      () => renameSync(path.join(root, 'packages/kernel/src/a.ts'), path.join(root, 'packages/kernel/src/b.ts')),
    ],
    ['changed in the page of an error', () => write('docs/errors/world_absent.md', 'Another text.')],
    ['removed', () => rmSync(path.join(root, 'examples/ladder/src/a.ts'))],
    ['changed in its manifest', () => write('packages/kernel/package.json', '{ }')],
  ])('a build is stale when a source was %s after it', (_, change) => {
    noteBuild(root);
    change();
    expect(buildState(root)).toBe('stale');
  });

  it.each(['packages/kernel', 'examples/coding-agent'])('a build without the built files of %s is absent', (home) => {
    noteBuild(root);
    rmSync(path.join(root, home, 'dist'), { recursive: true });
    expect(buildState(root)).toBe('absent');
  });
});
