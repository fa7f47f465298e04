/** The end of a door for orders, whatever its customers do. */
import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Takes no more customers, and serves those inside; resolves when they have left, or were told to go after `within` ms. */
export async function closeDoor(door: Server, within: number): Promise<void> {
  // A connection that goes on asking would keep the door open: each gets its answer, and is closed.
  door.prependListener('request', (_request, response) => void response.setHeader('connection', 'close'));
  const closed = new Promise((resolve) => door.close(resolve));
  door.closeIdleConnections();
  await Promise.race([closed, pause(within, undefined, { ref: false })]);
  door.closeAllConnections();
  await closed;
}
