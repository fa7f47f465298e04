/** What a view says of events before they are sent. */
import type { PolicyRule, Principal } from '@reprise/contracts';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { creates, defineApp, defineReducer, isRepriseError, memory, openKernelWorld } from '../../../../src/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 47);

const list = defineReducer({
  name: 'test/List@1',
  state: z.strictObject({ count: z.int() }),
  events: { 'test/Add@1': creates(z.strictObject({})), 'test/Clear@1': creates(z.strictObject({})) },
  init: () => ({ count: 0 }),
  reduce(draft) {
    draft.count += 1;
  },
});
const app = defineApp({ reducers: [list] });

const PEOPLE: readonly Principal[] = ['human:ann', 'human:bob', 'operator', 'cell:test/List@1/a', 'cell:test/List@1/b'];
const KEYS = ['a', 'b'] as const;
const EVENTS = ['test/Add@1', 'test/Clear@1'] as const;

const rule: fc.Arbitrary<PolicyRule> = fc.record({
  send: fc.constantFrom('*', ...KEYS.flatMap((key) => EVENTS.map((event) => `test/List@1/${key}#${event}`))),
  who: fc.constantFrom('human:*', 'human:ann', 'human:bob', 'cell:*'),
  decision: fc.constantFrom('allow' as const, 'deny' as const),
});

it(`a view says that its principal may send an event where the request is taken then, and nowhere else (seed ${SEED}; again: REPRISE_SEED=${SEED} npx vitest run packages/kernel/test/run/world/read/may-send.test.ts)`, async () => {
  const verdicts = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { maxLength: 4 }), async (policy) => {
      const world = await openKernelWorld({ store: memory(), app, adapters: [], policy });
      for (const key of KEYS) await world.request(['test/List@1', key], { name: 'test/Add@1', value: {} });
      for (const who of PEOPLE)
        for (const key of KEYS)
          for (const name of EVENTS) {
            const view = world.as(who);
            const may = await view.maySend(['test/List@1', key], name);
            const taken = await view.request(['test/List@1', key], { name, value: {} }).then(
              () => true,
              (error: unknown) => !isRepriseError(error, 'policy_denied') && !isRepriseError(error, 'cap_denied'),
            );
            expect([policy, who, key, name, may]).toEqual([policy, who, key, name, taken]);
            verdicts.add(may);
          }
      await world.close();
    }),
    { seed: SEED, numRuns: 20 },
  );
  expect(verdicts).toEqual(new Set([true, false]));
});
