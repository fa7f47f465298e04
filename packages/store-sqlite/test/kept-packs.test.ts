/** Inflated packs that are kept between readings: a broken build that confuses them is found. */

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { foundBy } from '../../../conformance/broken-build.js';
import { everyNth } from '../../../conformance/part.js';

const JUDGES = path.join(import.meta.dirname, 'kept-packs.ts');
const SOURCES = path.join(import.meta.dirname, '../src/packs');
const SHARED = path.join(import.meta.dirname, '../../packs/src');

const MUTANTS = [
  {
    does: 'takes the last row that was inflated for every other row of its size',
    file: path.join(SHARED, 'frames.ts'),
    from: ' || Buffer.compare(last.bytes, row.bytes) !== 0',
    to: '',
  },
  {
    does: 'takes the pack of one store for the pack of another',
    file: path.join(SOURCES, 'blob-packs.ts'),
    from: 'readers++',
    to: '(readers &&= 0)',
  },
];

describe('inflated packs that are kept', () => {
  it('histories of several stores in one process read what they have stored [RPL-29]', async () => {
    expect(await foundBy(JUDGES, 'holdPacks')).toBeUndefined();
  });

  it.each(everyNth(2, MUTANTS))('mutant: a build that $does is found [RPL-29]', async ({ file, from, to }) => {
    const found = await foundBy(JUDGES, 'holdPacks', { file, from, to });
    expect(found).toMatch(/^(?!"|Build failed)/);
  });
});
