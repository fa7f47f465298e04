/**
 * One process of the fleet: a host of all shops, which shares them with the other processes by the database, behind a door
 * for orders. `process.ts DATABASE BANK`; it prints its address when it is ready.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openHost } from 'reprise/host';
import { isRepriseError, openKernelWorld } from 'reprise/kernel';
import { postgres } from 'reprise/postgres';
import { print } from 'reprise/terminal';
import { app, bankAdapter, SHOP } from './shop.js';

const [, , url = '', bank = ''] = process.argv;
const database = postgres(url, { ttl: 2_000 });
const host = await openHost({
  directory: database.directory('shops'),
  store: (shop) => database.world(shop),
  open: (_shop, base) => openKernelWorld({ ...base, app, adapters: [bankAdapter(bank)] }),
});

/** `POST /SHOP` with an order. Answers only when the order is durable. */
const door = createServer(async (request, response) => {
  let order = '';
  try {
    for await (const part of request) order += part;
    const event = { name: 'shop/Ordered@1', value: { order } };
    const { seq } = await host.use((request.url ?? '').slice(1), (world) => world.request(SHOP, event, { id: order }));
    response.end(JSON.stringify({ seq }));
  } catch (error) {
    // The other process has this shop, or the one here has lost it: the customer asks there, with the same order.
    response.writeHead(503).end(isRepriseError(error) ? error.code : 'failed');
  }
});
door.listen(0, '127.0.0.1', () => print(`http://127.0.0.1:${(door.address() as AddressInfo).port}`));

process.once('SIGTERM', async () => {
  door.close();
  await host.close(); // its shops are free at once
  await database.close();
});
