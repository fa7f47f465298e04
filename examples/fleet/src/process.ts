/**
 * One process of the fleet: it serves all shops, wherever they are open, behind a door for orders. `process.ts DATABASE BANK`,
 * with the secret of the fleet in `FLEET_SECRET`; it prints its address when it is ready.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openFleet } from 'reprise/fleet';
import { isRepriseError, openKernelWorld } from 'reprise/kernel';
import { print } from 'reprise/terminal';
import { closeDoor } from './door.js';
import { order } from './order.js';
import { app, bankAdapter } from './shop.js';

const [, , database = '', bank = ''] = process.argv;
const fleet = await openFleet({
  ...{ database, name: 'shops', secret: process.env.FLEET_SECRET ?? '', ttl: 2_000 },
  open: (_shop, base) => openKernelWorld({ ...base, app, adapters: [bankAdapter(bank)] }),
  operations: [order],
});

/** `POST /SHOP` with an order. Answers only when the order is durable, whichever process has the shop open. */
const door = createServer(async (request, response) => {
  let name = '';
  try {
    for await (const part of request) name += part;
    // The id of the order makes it safe to ask again, here or at the other process.
    const { frame } = await fleet.call((request.url ?? '').slice(1), order, { order: name }, { id: name });
    response.end(JSON.stringify({ frame }));
  } catch (error) {
    response.writeHead(503).end(isRepriseError(error) ? error.code : 'failed');
  }
});
door.listen(0, '127.0.0.1', () => print(`http://127.0.0.1:${(door.address() as AddressInfo).port}`));

process.once('SIGTERM', async () => {
  await closeDoor(door, 10_000); // no new customers; those inside are served
  await fleet.close(); // its shops are free at once
});
