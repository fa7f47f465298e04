/** The world that hostile files are made of: small, with every table in use. */
import { type App, creates, defineApp, defineReducer, openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import * as z from 'zod';

/** Its app. */
export const app: App = defineApp({
  reducers: [
    defineReducer({
      name: 'hostile/Counter@1',
      state: z.strictObject({ n: z.int() }),
      events: { 'hostile/Added@1': creates(z.strictObject({ by: z.int() })) },
      init: () => ({ n: 0 }),
      reduce(draft, event, ctx) {
        draft.n += event.value.by;
        ctx.timer('later', ctx.now + 1_000_000);
      },
    }),
  ],
});

/** Asks the world for one thing more. */
export const ADDED = { name: 'hostile/Added@1', value: { by: 1 } };

/** Writes it, and closes it. @returns every head that it had */
export async function makeSample(file: string): Promise<string[]> {
  const world = await openKernelWorld({ store: sqlite(file), app, snapshotEvery: 10 });
  const heads = [world.head.digest];
  for (let i = 0; i < 24; i++) {
    const { head } = await world.request(['hostile/Counter@1', `c${i % 5}`], ADDED);
    heads.push(head);
  }
  const refs = [];
  for (const size of [40, 3_000, 60_000, 70_000]) refs.push(await world.content.put(new Uint8Array(size).fill(size)));
  await world.snapshot();
  await world.erase({ refs: [refs[0] as (typeof refs)[0]] });
  const store = await sqlite(file).openReadonly();
  for await (const frame of store.journal.read(0)) heads.push(frame.head);
  await store.close();
  await world.close();
  return heads;
}
