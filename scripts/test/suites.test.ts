/** The tests that `npm test` leaves to `npm run test:rest`. */
import { describe, expect, it } from 'vitest';
import { readTree } from '../architecture/tree.js';
import { ROOT } from '../lib/root.mjs';
import { HEAVY, suiteOf } from '../lib/suites.mjs';

const files = [...readTree(ROOT).keys()].filter((file) => file.endsWith('.test.ts'));

describe('the suites', () => {
  it.each(HEAVY.map(([path]) => path))('%s leads to a test', (path) => {
    expect(files.some((file) => file === path || (path.endsWith('/') && file.startsWith(path)))).toBe(true);
  });

  it('npm test leaves out exactly what npm run test:rest runs', () => {
    expect(suiteOf('quick').exclude).toEqual(suiteOf('rest').include);
  });

  it('both suites together contain every test file', () => {
    expect(suiteOf('everything')).toEqual({});
  });
});
