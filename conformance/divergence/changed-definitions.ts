/** The definitions changed under the names that a journal was written with: found before anything is replayed. */
import type { ErrorCode } from '@reprise/contracts';
import { type App, defineEffect, openKernelWorld } from '@reprise/kernel';
import { loadWorld, saveWorld } from '@reprise/testkit';
import * as z from 'zod';
import { verified } from './changed-code.js';
import { type Catch, caughtBy, type Row } from './row.js';
import { order, POLICY, shopApp, shopOptions, shopStore } from './shop.js';

const charged = (more: Record<string, z.ZodType>) =>
  defineEffect({
    kind: 'shop.charge@1',
    params: z.strictObject({ cents: z.int(), order: z.string(), ...more }),
    receipt: z.strictObject({ id: z.string() }),
  });

const LACKING = 'frame 0: the app lacks definitions that this journal was written with';

/** The changed definition of a mutant, with the findings of a verification and of an opening. */
const DEFINITIONS: readonly (readonly [
  name: string,
  how: string,
  lacks: string,
  at: ErrorCode,
  names: string,
  mutant: () => App,
])[] = [
  [
    'a state’s schema',
    'an order has one more field, under the same name',
    'shop/Order@1',
    'era_incompatible',
    'frame 1, record 4 (state), `$.leaves[cell shop/Order@1 a].state.note`: nothing → `""`',
    () => shopApp({}, { state: order.extend({ note: z.string().default('') }) }),
  ],
  [
    'an effect’s schema',
    'a charge has a currency, under the same name',
    'shop.charge@1',
    'era_incompatible',
    'frame 3, record 2 (effect), `$`: a record `effect` → a record `denial`',
    () => shopApp({}, { effect: charged({ currency: z.string() }) }),
  ],
  [
    'an effect’s guarantee',
    'a letter may be sent once only, under the same name',
    'shop.mail@1',
    'era_incompatible',
    'frame 3, record 3 (effect), `$.guarantee`: `"idempotent"` → `"at_most_once"`',
    () =>
      shopApp(
        {},
        {
          effect: defineEffect({
            kind: 'shop.mail@1',
            params: z.strictObject({ to: z.string(), text: z.string() }),
            receipt: z.strictObject({ sent: z.boolean() }),
            guarantee: 'at_most_once',
          }),
        },
      ),
  ],
  [
    'a definition that is gone',
    'the app has no shelves',
    'shop/Shelf@1',
    'manifest_mismatch',
    'the app has no reducer for cells that are alive (shop/Shelf@1 (3 alive))',
    () => shopApp({}, { shelves: false }),
  ],
];

/** Mutants of the definitions of the shop. */
export const CHANGED_DEFINITIONS: readonly Row[] = DEFINITIONS.map(([name, how, lacks, at, names, mutant]) => ({
  group: 'changed code',
  name,
  how,
  caught: [
    ['opening', at, names],
    ['verification', 'manifest_mismatch', `${LACKING} (${lacks})`],
  ],
  broken: async () => [...(await opened(mutant())), ...(await verified(shopStore(), mutant()))],
  sound: async () => [...(await opened(shopApp())), ...(await verified(shopStore(), shopApp()))],
}));

/** Opens a copy of the shop's world with an app. */
async function opened(app: App): Promise<Catch[]> {
  const store = await loadWorld(await saveWorld(await shopStore()));
  const opening = openKernelWorld({ ...shopOptions(), adapters: [], app, store, policy: POLICY });
  return caughtBy(
    'opening',
    opening.then((world) => world.close()),
  );
}
