/** The door of a process ends: with customers who go on asking on their old connections, and with one who never leaves. */
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { closeDoor } from '../src/door.js';

it('a door closes while a customer goes on asking on one connection and another one never leaves, and no answer is cut', async () => {
  const door = createServer((request, response) => {
    if (request.url === '/stays') response.write('and stays');
    else setTimeout(() => response.end('served'), 20); // so that its connection is never idle
  });
  await new Promise<void>((ready) => door.listen(0, '127.0.0.1', ready));
  const { port } = door.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (): Promise<string> =>
    new Promise((resolve) => {
      get({ port, host: '127.0.0.1', agent }, (response) => {
        let said = '';
        response.on('data', (part) => {
          said += part;
        });
        response.on('end', () => resolve(said)).on('error', () => resolve('cut'));
      }).on('error', (error) => resolve(String((error as NodeJS.ErrnoException).code)));
    });
  const stays = new Promise<void>((left) => {
    get({ port, host: '127.0.0.1', path: '/stays' }, (response) => {
      response.resume().on('error', () => left());
    });
  });
  const answers: string[] = [];
  const customer = (async () => {
    do answers.push(await ask());
    while (answers.at(-1) === 'served');
  })();
  await expect.poll(() => answers.length).toBeGreaterThan(3);
  await closeDoor(door, 200);
  await Promise.all([customer, stays]);
  // Nobody is cut: the last one found the door closed, or was still before it when it closed.
  const last = answers.pop();
  expect([...new Set(answers)]).toEqual(['served']);
  expect(['ECONNREFUSED', 'ECONNRESET']).toContain(last);
  agent.destroy();
});
