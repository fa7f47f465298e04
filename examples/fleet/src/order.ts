/** What every process of the fleet can have done in a shop. */
import { defineOperation } from 'reprise/fleet';
import type { World } from 'reprise/kernel';
import * as z from 'zod';
import { SHOP } from './shop.js';

/** Takes an order, and answers with its place in the journal. */
export const order = defineOperation({
  name: 'shop/order@1',
  input: z.strictObject({ order: z.string() }),
  output: z.strictObject({ frame: z.int() }),
  run: async (world: World, value, { request }) => {
    // `request` has the id of the call: an order that comes twice is taken once.
    const { seq } = await world.request(SHOP, { name: 'shop/Ordered@1', value }, request);
    return { frame: seq };
  },
});
