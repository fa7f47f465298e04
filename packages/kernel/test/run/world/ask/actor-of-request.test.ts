/** Who sent a request, as the reducer that handles it sees it. */
import * as z from '@reprise/contracts/schema';
import { describe, expect, it } from 'vitest';
import { memory, openKernelWorld } from '../../../../src/index.js';
import { by, creates, defineApp, defineReducer, from } from '../../../../src/pure/define/index.js';

const noted = z.strictObject({
  actor: z.nullable(z.strictObject({ kind: z.string(), id: z.string(), granted_by: z.exactOptional(z.string()) })),
});

const box = defineReducer({
  name: 'test/Box@1',
  state: z.strictObject({}),
  events: {
    'test/Put@1': creates(from(z.strictObject({}), by.outside)),
    'test/Again@1': from(z.strictObject({}), by.self),
  },
  facts: { 'test/Noted@1': noted },
  init: () => ({}),
  reduce(_, event, ctx) {
    ctx.record('test/Noted@1', { actor: ctx.actor });
    if (event.name === 'test/Put@1') ctx.send(ctx.address, { name: 'test/Again@1', value: {} });
  },
});

const app = defineApp({ reducers: [box] });
const put = { name: 'test/Put@1', value: {} };

describe('the actor of a request', () => {
  it('a reducer reads who sent its request: the principal, or the rule or program that it states; an event of a cell has none [ASK-16]', async () => {
    const world = await openKernelWorld({ store: memory(), app });
    const rule = { kind: 'rule', id: 'always', granted_by: 'ann' } as const;
    await world.request(['test/Box@1', 'a'], put);
    await world.request(['test/Box@1', 'a'], put, { as: 'human:ann' });
    await world.request(['test/Box@1', 'a'], put, { as: 'human:ann', actor: rule });
    const bob = { as: 'human:ann', actor: { kind: 'person', id: 'bob' } } as const;
    await expect(world.request(['test/Box@1', 'a'], put, bob)).rejects.toMatchObject({ code: 'cap_denied' });
    const seen: unknown[] = [];
    for await (const { seq, records } of world.frames(0)) {
      for (const record of records) if (record.kind === 'fact') seen.push((record.value as { actor: unknown }).actor);
      if (seq >= world.head.seq) break;
    }
    expect(seen).toEqual([{ kind: 'program', id: 'operator' }, null, { kind: 'person', id: 'ann' }, null, rule, null]);
    expect((await world.verify()).unverified).toBe(0);
    await world.close();
  });

  it.each(['\ud800', 'a\udc00b'])(
    'an actor with a lone surrogate (%j) is refused where it enters, as every text of a request [ASK-16]',
    async (id) => {
      await using world = await openKernelWorld({ store: memory(), app });
      for (const actor of [
        { kind: 'program', id },
        { kind: 'rule', id: 'r', granted_by: id },
      ] as const) {
        const asked = world.request(['test/Box@1', 'a'], put, { actor });
        await expect(asked).rejects.toMatchObject({ code: 'invalid_value' });
      }
      expect(await world.state(['test/Box@1', 'a'])).toBeUndefined();
    },
  );
});
