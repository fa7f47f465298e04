import { describe, expect, it } from 'vitest';
import { readTree, type Tree } from '../architecture/tree.js';
import { ROOT } from '../lib/root.mjs';
import { SHARED } from '../lib/suites.mjs';

/** Files that share a process with others although they replace a module for all of them. */
function wrong(tree: Tree): string[] {
  const shared = SHARED.folders.map((folder: string) => folder.slice(0, -'**'.length));
  return [...tree]
    .filter(([file]) => file.endsWith('.test.ts') && shared.some((folder) => file.startsWith(folder)))
    .filter(([, text]) => /\bvi\.(?:doM|m)ock\(/.test(text))
    .map(([file]) => file);
}

describe('the suites of tests', () => {
  it('test files that replace a module run in a process of their own', () => {
    expect(wrong(readTree(ROOT))).toEqual([]);
  });

  it('mutant: the check finds a file that replaces a module in a shared process', () => {
    const file = 'packages/providers/test/planted.test.ts';
    expect(wrong(new Map([[file, "vi.mock('../src/index.js');"]]))).toEqual([file]);
  });
});
