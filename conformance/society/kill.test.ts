/** Swarms whose owners are killed, in short; `conformance/society-swarms.ts --kill 100` does it at length. */

import { describe, expect, it } from 'vitest';
import { stepOf } from '../part.js';
import { killSwarms } from './kill.js';

const SEED = 20_261_127;

describe(`swarms whose owners are killed at random moments, seed ${SEED}`, () => {
  it('each swarm has one result and one item of each agent, and one end, and is verified [SOC-14] [SOC-19]', async () => {
    const kills = 6 / stepOf(2);
    const found = await killSwarms({ kills, seed: SEED, sizes: [3] });
    expect(found).toMatchObject({ kills, failures: [] });
  });

  it('an owner that creates its swarm anew each time it starts is found', async () => {
    const { failures } = await killSwarms({ kills: 4, seed: SEED, sizes: [3], forgets: true });
    expect(failures.length).toBeGreaterThan(0);
  });
});
