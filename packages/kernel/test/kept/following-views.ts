/** Views that follow a world for a long time: what they hold is what a process makes that reads the journal anew. */
import assert from 'node:assert/strict';
import * as z from 'zod';
import { defineProjection, memory, openKernelWorld } from '../../src/index.js';
import { memoryViews, openViews } from '../../src/serve/views/index.js';
import { CELLS, CHANGED, firstApp } from './keeping-app.js';

const counts = defineProjection({
  name: 'kept/Counts@1',
  row: z.strictObject({ count: z.int() }),
  from: { '*': true },
  fold(rows, { record }) {
    rows.put(record.kind, { count: (rows.get(record.kind)?.count ?? 0) + 1 });
  },
});

/** Follows a world through several commits. @throws Error when the views differ from the journal */
export async function holdFollowingViews(): Promise<void> {
  await using world = await openKernelWorld({ store: memory(), app: firstApp(), policy: POLICY });
  await using views = await openViews(world, [counts], { store: memoryViews() });
  for (let i = 0; i < 6; i++) {
    const value = { changes: [{ do: 'append', n: i }], letters: '' } as never;
    await world.request(CELLS[0], { name: CHANGED, value });
    await views.caughtUp();
    assert.deepEqual((await views.verify()).differences, [], `views after request ${i}`);
  }
}

const POLICY = [
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
] as const;
