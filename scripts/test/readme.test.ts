/** The README's example is run as it stands: a reader's first copy-and-paste must work. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
// Inside the repository, so that the packages resolve by name as they do in an app.
const folder = mkdtempSync(path.join(ROOT, 'node_modules/.readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function exampleOf(readme: string): string {
  const [, block] = readme.match(/<!-- example: begin -->\s*```ts\n([\s\S]*?)```/) ?? [];
  if (block === undefined) throw new Error('README.md has no example between its markers');
  return block;
}

function runExample(file: string): string[] {
  const args = ['--import', 'tsx', '--conditions=@reprise/source', file];
  const child = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  expect(child.stderr).toBe('');
  return child.stdout.trim().split('\n');
}

describe('the README example', () => {
  const source = exampleOf(readFileSync(path.join(ROOT, 'README.md'), 'utf8'));
  const file = path.join(folder, 'example.mts');
  writeFileSync(file, source);
  const promised = [...source.matchAll(/console\.log\(.*\/\/ ([^:\n]*)/g)].map(([, said]) => said?.trim());

  it('prints what its comments promise, and the same when it is run again', () => {
    expect(runExample(file)).toEqual(promised);
    expect(runExample(file)).toEqual(promised);
  });
});
