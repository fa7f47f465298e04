/** An app whose only reducer makes one of {@link USES}, or its replacement. */
import { type Address, value } from '@reprise/contracts';
import { type App, creates, defineApp, defineReducer, memory, openKernelWorld, type Store } from '@reprise/kernel';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import * as z from 'zod';
import type { Use } from './ambient-uses.js';

/** The mutant, or the sound one. */
export type Side = 'broken' | 'sound';

/** The cell that uses it. */
export const USER: Address = ['ambient/User@1', 'x'];

/** The app of one use. */
export function userApp({ use, instead }: Use, side: Side): App {
  const user = defineReducer({
    name: 'ambient/User@1',
    state: z.strictObject({ seen: value() }),
    events: {
      'ambient/Used@1': creates(z.strictObject({})),
      'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
    },
    init: () => ({ seen: null }),
    reduce(draft, event, ctx) {
      if (event.name === 'ambient/Used@1')
        draft.seen = ((side === 'broken' ? use(ctx) : instead(ctx)) ?? null) as never;
    },
  });
  return defineApp({ reducers: [user] });
}

/** Uses it once in a world that folds every frame so often. */
export async function recordUse(app: App, recheckEvery: 0 | 1): Promise<Store> {
  const store = memory();
  const clock = new VirtualClock({ wall: Date.UTC(2026, 0, 1) });
  const world = await openKernelWorld({ store, app, clock, random: seededRandom('ambient'), recheckEvery });
  try {
    await world.request(USER, { name: 'ambient/Used@1', value: {} }, { id: 'u-1' });
  } finally {
    await world.close();
  }
  return store;
}
