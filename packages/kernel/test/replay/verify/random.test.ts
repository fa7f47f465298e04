import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anySchedule } from '../../../../testkit/src/arbitraries/index.js';
import type { CellLeaf } from '../../../src/pure/engine/index.js';
import { hold, SEED } from '../../support/laws/hold.js';
import { type HeldEras, holdEras, holdInterrupted, type Interruption, migrationsOf } from './random-eras.js';

const COMMAND = 'npx vitest run packages/kernel/test/replay/verify/random.test.ts';

const interruptions: fc.Arbitrary<Interruption> = fc.record({
  fault: fc.constantFrom('full', 'broken', 'reply lost'),
  after: fc.nat(3),
});

describe(`random worlds whose app changes (seed ${SEED})`, () => {
  it('every era replays with its definitions, is unverified without, and every cell migrates once for each version [RPL-14]', async () => {
    const worlds: HeldEras[] = [];
    const schedules = fc.array(anySchedule({ stepsMax: 8 }), { minLength: 2, maxLength: 3 });
    const law = fc.asyncProperty(schedules, fc.boolean(), async (parts, crash) => {
      worlds.push(await holdEras(parts, crash));
    });
    await hold(law, { numRuns: 40, command: COMMAND });
    const migrated = worlds.flatMap(({ migrations }) => migrations);
    for (const times of [0, 1, 2]) expect(migrated.filter((one) => one === times).length).toBeGreaterThan(5);
  });

  it('an upgrade that is interrupted at any append leaves a world that the old app or the new one opens [RPL-13]', async () => {
    const outcomes = new Set<string>();
    const law = fc.asyncProperty(anySchedule({ stepsMax: 8 }), interruptions, async (schedule, at) => {
      const { refused, begun } = await holdInterrupted(schedule, at);
      outcomes.add(`${refused ? 'refused' : 'opened'} ${begun ? 'begun' : 'not begun'}`);
    });
    await hold(law, { numRuns: 40, command: COMMAND });
    expect(outcomes).toContain('refused not begun');
    expect(outcomes).toContain('refused begun');
    expect(outcomes).toContain('opened begun');
  });

  it.each([
    ['twice', { v: 'law/Program@2', state: { trail: ['to 2', 'to 2'] } }],
    ['not at all', { v: 'law/Program@2', state: {} }],
    ['before its time', { state: { trail: ['to 2'] } }],
    ['in another order', { v: 'law/Program@3', state: { trail: ['to 3', 'to 2'] } }],
  ])('a cell that migrated %s would be found', (_, cell) => {
    expect(() => migrationsOf(cell as unknown as CellLeaf)).toThrow('instead of');
  });
});
