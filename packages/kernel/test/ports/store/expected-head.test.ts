/** A world says whether it was made, and is refused when it lacks what its opener knows of it. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  creates,
  defineApp,
  defineReducer,
  type Head,
  memory,
  openKernelWorld,
  type Store,
} from '../../../src/index.js';

const app = defineApp({
  reducers: [
    defineReducer({
      name: 'demo/Counter@1',
      state: z.strictObject({ n: z.int() }),
      events: { 'demo/Added@1': creates(z.strictObject({ by: z.int() })) },
      init: () => ({ n: 0 }),
      reduce(draft, event) {
        draft.n += event.value.by;
      },
    }),
  ],
});

const ADDED = { name: 'demo/Added@1', value: { by: 1 } };

/** Adds so often, and gives every head. */
async function add(store: Store, times: number): Promise<Head[]> {
  await using world = await openKernelWorld({ store, app });
  const heads = [world.head];
  for (let i = 0; i < times; i++) {
    const { seq, head } = await world.request(['demo/Counter@1', 'a'], ADDED);
    heads.push({ seq, digest: head });
  }
  return heads;
}

describe('an opened world', () => {
  it('an opened world reports whether the opening created it [JRN-31]', async () => {
    const store = memory();
    const first = await openKernelWorld({ store, app });
    expect(first.created).toBe(true);
    await first.close();
    const second = await openKernelWorld({ store, app });
    expect(second.created).toBe(false);
    await second.close();
  });

  it('an opened world has every head that it acknowledged, queried with its frame or alone [JRN-32]', async () => {
    const store = memory();
    for (const expectHead of await add(store, 3)) {
      for (const expected of [expectHead, expectHead.digest]) {
        await (await openKernelWorld({ store, app, expectHead: expected })).close();
      }
    }
  });

  it('an opening is refused when the world lacks the expected head, and nothing is written [JRN-32]', async () => {
    const [older, newer] = [memory(), memory()];
    await add(older, 1);
    const heads = await add(newer, 4);
    const last = heads.at(-1) as Head;
    const empty = memory();
    for (const store of [older, empty]) {
      for (const expectHead of [last, last.digest, { seq: 1, digest: last.digest }]) {
        await expect(openKernelWorld({ store, app, expectHead })).rejects.toMatchObject({ code: 'head_mismatch' });
      }
    }
    const open = await empty.open();
    expect((await open.journal.head()).seq).toBe(-1);
    await open.close();
  });

  it.each([
    ['a number', 7],
    ['a short digest', 'abc'],
    ['a digest with its prefix', `sha256:${'0'.repeat(64)}`],
    ['a frame without a digest', { seq: 3 }],
    ['a frame before the first', { seq: -2, digest: '0'.repeat(64) }],
    ['null', null],
  ])('an opening refuses %s as a head', async (_, expectHead) => {
    await expect(openKernelWorld({ store: memory(), app, expectHead: expectHead as never })).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { where: 'expectHead' },
    });
  });
});
