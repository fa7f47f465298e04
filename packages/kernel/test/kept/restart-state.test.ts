/** A world that stays open, and the same world opened again before each request. */
import { describe, expect, it } from 'vitest';
import { hold, SEED } from '../support/laws/hold.js';
import { type Met, restartLaw } from './restart-law.js';

describe(`a world kept open and one opened again (seed ${SEED})`, () => {
  it('worlds kept open, opened again and opened from snapshots reach the same states and refusals [RPL-9] [RED-5]', async () => {
    const met: Met = { outcomes: new Map() };
    await hold(restartLaw(met), {
      numRuns: 60,
      command: 'npx vitest run packages/kernel/test/kept/restart-state.test.ts',
    });
    const codes = ['migration_failed', 'state_invalid', 'state_too_large', 'value_invalid'];
    expect([...met.outcomes.keys()].sort()).toEqual([...codes.map((code) => `delivery_faulted ${code}`), 'done']);
  });
});
