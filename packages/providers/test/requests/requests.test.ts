/** Requests of random histories to strict servers of every format: none is refused. And each server finds each fault. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oddSchema } from '../odd-schemas.js';
import { anyHistory, send, WAYS } from './histories.js';
import { TABLES } from './mutants.js';

const numRuns = Number(process.env.REQUEST_RUNS ?? 60);

describe('strict servers', () => {
  it('a strict server refuses no request of a random history, in any format (seed 650) [MOD-52]', async () => {
    let requests = 0;
    const law = fc.asyncProperty(anyHistory, async (history) => {
      for (const { way, refused } of await send(history)) {
        requests++;
        expect(refused, way).toEqual([]);
      }
    });
    await fc.assert(law, { seed: 650, numRuns });
    expect(requests).toBe(numRuns * WAYS.length);
  });

  it.each(TABLES.map((table) => [table.name, table] as const))(
    'the strict server of %s takes a sound request, and finds each fault of the table',
    (_name, { refused, sound, mutants }) => {
      expect(refused(sound())).toEqual([]);
      const missed = mutants.flatMap(([rule, breaks], i) => {
        const body = sound();
        breaks(body);
        const found = refused(body).map((one) => one.split(' at ')[0]);
        return found.includes(rule) ? [] : [`${i}: ${rule}, found ${found.join(', ')}`];
      });
      expect(missed).toEqual([]);
    },
  );

  it('a strict server refuses the schemas of tools as their servers sent them', () => {
    const [first] = TABLES;
    const schemas = fc.sample(oddSchema, { numRuns: 200, seed: 651 });
    const refused = schemas.filter((schema) => {
      const body = first?.sound();
      body.tools[0].function.parameters = schema;
      return first?.refused(body).length !== 0;
    });
    expect(refused.length).toBeGreaterThan(100);
  });
});
