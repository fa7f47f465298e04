/**
 * Entities of random societies are shown exactly what they may read at that time, by every path. Mistakes that this law
 * finds: `content/mutants.test.ts`.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../part.js';
import { judgeContent } from './content/judge.js';
import { MUTANTS, sourceOf } from './content/mutants.js';

const SEED = Number(process.env.REPRISE_SEED ?? 36);
const WORLDS = Number(process.env.REPRISE_CONTENT_WORLDS ?? 10 / stepOf(2));

describe('content in random societies', () => {
  it(`Requests to the model, inboxes, resources, clients, reads and searches have what the rules say, in ${WORLDS} worlds from seed ${SEED} [SOC-91] [SOC-92] [SOC-93] [SOC-94]`, async () => {
    const found = await judgeContent(WORLDS, SEED);
    expect(found.first ?? '').toBe('');
    expect(found.worlds).toBe(WORLDS);
    expect(Math.min(found.shown, found.withheld)).toBeGreaterThan(WORLDS / 2);
  });

  it('The conflicts of a return that goes to several stores stand in the order of its items: the world of seed 5005497', async () => {
    expect((await judgeContent(1, 5005497)).first ?? '').toBe('');
  });

  it('Each mistake changes one place of the sources', () => {
    const times = MUTANTS.map(({ what, file, from }) => [
      what,
      readFileSync(sourceOf(file), 'utf8').split(from).length,
    ]);
    expect(times).toEqual(MUTANTS.map(({ what }) => [what, 2]));
  });

  it('The oracle imports the oracle of rights alone', () => {
    const text = readFileSync(path.join(import.meta.dirname, 'content/expected.ts'), 'utf8');
    expect([...text.matchAll(/from '(.*)'/g)].map(([, from]) => from)).toEqual(['../oracle.js']);
  });
});
