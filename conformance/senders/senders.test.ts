/**
 * Each event takes exactly the senders that it declares, whatever the policy permits. Mistakes that this law finds:
 * `mistakes.test.ts`.
 */
import { describe, expect, it } from 'vitest';
import { eventsOf, everyForm, REDUCERS } from './declared.js';
import { sum, trySenders } from './law.js';

describe('declared senders', () => {
  it('each form of a declaration lets its sender through and no other [RED-35]', async () => {
    const report = sum(await Promise.all(eventsOf(everyForm).map(trySenders)));
    expect(report.differences).toEqual([]);
    expect(report.cases).toBeGreaterThan(500);
  });

  it.each(REDUCERS.map((reducer) => [reducer.name, reducer] as const))(
    'each event of %s takes the senders that it declares and no other [RED-35]',
    async (_name, reducer) => {
      const { differences } = sum(await Promise.all(eventsOf(reducer).map(trySenders)));
      expect(differences).toEqual([]);
    },
  );
});
