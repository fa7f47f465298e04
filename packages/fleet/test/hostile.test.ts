/** What a door, its neighbours and the code of an app do that none of them should: no caller sees it, and nobody waits for it. */

import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect, Server, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { RepriseError } from '@reprise/contracts';
import { encode, type World } from '@reprise/kernel';
import { openHost } from '@reprise/kernel/host';
import { postgres } from '@reprise/store-postgres';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { describePostgres } from '../../store-postgres/test/describe-postgres.js';
import { Receiver } from '../src/http/receiver.js';
import { Sender } from '../src/http/sender.js';
import { defineOperation, type Fleet, type FleetOptions, openFleet } from '../src/index.js';
import type { Outcome } from '../src/wire/outcome.js';
import { Secrets, writeCall } from '../src/wire/seal.js';
import { openShop, orders } from './shop.js';

const SECRET = 'a secret of the tests, long enough';
const secrets = new Secrets([SECRET]);

/** A request that is signed and new. */
function sendingTo(address: string) {
  const body = writeCall({
    ...{ fleet: 'shops', to: address, world: 'antwerp', operation: 'shop/order@1', input: encode(1), id: 'r-1' },
    ...{ as: 'operator', within: 60_000, patience: 60_000, at: Date.now(), nonce: randomUUID() },
  });
  return { body, patienceMs: 60_000, signal: new AbortController().signal };
}

describe('the door of a process', () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  async function openDoor(execute: () => Promise<Outcome>) {
    const refused: unknown[] = [];
    let address = '';
    const receiver = new Receiver({
      ...{ secrets, fleet: () => 'shops', address: () => address, execute },
      refused: ({ details }) => refused.push(details.reason),
    });
    const port = await receiver.listen('127.0.0.1', 0);
    address = `http://127.0.0.1:${port}/this-start`;
    return { receiver, refused, address, port };
  }

  /** A connection that has said something, and everything that it hears until it is closed. */
  function dial(port: number, says: string): { readonly heard: Promise<string> } {
    const socket = connect(port, '127.0.0.1', () => socket.write(says));
    sockets.push(socket);
    let text = '';
    socket.on('data', (part) => {
      text += part;
    });
    return { heard: new Promise((resolve) => socket.on('error', () => undefined).on('close', () => resolve(text))) };
  }

  it('a machine that gives no more connections is told, and the door stays open', async () => {
    const { receiver, refused, address, port } = await openDoor(async () => ({
      kind: 'answer',
      output: encode('done'),
    }));
    const handles = (process as unknown as { _getActiveHandles(): readonly object[] })._getActiveHandles();
    const server = handles.find((one) => one instanceof Server && (one.address() as AddressInfo | null)?.port === port);
    (server as Server).emit('error', new Error('accept EMFILE'));
    expect(refused).toEqual(['busy']);
    const sender = new Sender(secrets);
    const outcome = await sender.send(address, sendingTo(address));
    expect(outcome.kind).toBe('answer');
    sender.close();
    await receiver.close();
  });

  it('requests that arrive for ever take 64 MiB together, and others are refused until some of them have ended', async () => {
    const { receiver, refused, address, port } = await openDoor(async () => ({
      kind: 'answer',
      output: encode('done'),
    }));
    const half = Buffer.alloc(900_000); // 75 of them are more than 64 MiB
    const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${half.length + 1}\r\n\r\n`;
    for (let n = 0; n < 75; n++) {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(head);
        socket.write(half);
      });
      socket.on('error', () => undefined).resume();
      sockets.push(socket);
    }
    await expect.poll(() => refused.includes('busy')).toBe(true);
    for (const socket of sockets.splice(0)) socket.destroy();
    const sender = new Sender(secrets);
    const send = async (): Promise<string> => (await sender.send(address, sendingTo(address))).kind;
    await expect.poll(send).toBe('answer');
    sender.close();
    await receiver.close();
  });

  it('a door that closes waits for the answers to signed requests, and for nobody who has not signed', async () => {
    let ends: (outcome: Outcome) => void = () => undefined;
    let begun = false;
    const { receiver, address, port } = await openDoor(() => {
      begun = true;
      return new Promise((resolve) => {
        ends = resolve;
      });
    });
    const others = ['', 'POST / HT', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\nhalf'].map((says) =>
      dial(port, says),
    );
    const sender = new Sender(secrets);
    const sent = sender.send(address, sendingTo(address));
    await expect.poll(() => begun).toBe(true);
    const closed = receiver.close();
    for (const { heard } of others) await heard; // cut, while the signed one is waited for
    const answer: Outcome = { kind: 'answer', output: encode('done') };
    ends(answer);
    expect(await sent).toEqual(answer);
    await closed;
    sender.close();
  });

  it('a connection that was refused is heard no more, whatever else it has sent', async () => {
    const { receiver, refused, port } = await openDoor(() => expect.fail('executed'));
    const one = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\na';
    for (const says of [one.repeat(50), `${one}GET / HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(25)]) {
      await dial(port, says).heard;
      expect(refused.splice(0).length).toBeLessThanOrEqual(1);
    }
    await dial(port, one).heard;
    expect(refused).toEqual(['signature']);
    await receiver.close();
  });
});

/** What an operation may throw, by name. */
const THROWN: Readonly<Record<string, () => unknown>> = {
  'half a character': () => new RepriseError('cell_absent', 'a \ud800 half', { where: '\ud800', '\ud800': 1 }),
  'details that throw': () =>
    new RepriseError('cell_absent', 'x', {
      get deep(): never {
        throw new Error('a trap');
      },
    }),
  'a long sentence': () => new RepriseError('cell_absent', 'x'.repeat(3_000_000)),
  null: () => null,
  'a proxy': () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('a trap');
        },
      },
    ),
  'what looks like an error': () => ({ [Symbol.for('reprise.error')]: true, code: 'cell_absent' }),
  'a code of nobody': () => ({ [Symbol.for('reprise.error')]: true, code: 'nobodys', what: 'x', details: {} }),
};

let runs = 0;
const throws = defineOperation({
  name: 'shop/throws@1',
  input: z.string(),
  output: z.null(),
  run: (_world: World, what): null => {
    runs++;
    throw THROWN[what]?.();
  },
});

let gate = Promise.resolve();
const waits = defineOperation({
  name: 'shop/waits@1',
  input: z.null(),
  output: z.string(),
  run: async () => {
    runs++;
    await gate;
    return 'done';
  },
});

describePostgres('a fleet among others', (own) => {
  const open: Fleet<World>[] = [];
  afterEach(async () => {
    for (const fleet of open.splice(0)) await fleet.close({ within: 0 });
    runs = 0;
  });

  async function join(name: string, more: Partial<FleetOptions<World>> = {}): Promise<Fleet<World>> {
    const fleet = await openFleet<World>({
      ...{ database: own.url, secret: SECRET, name, ttl: 4_000, open: openShop() },
      operations: [orders, throws, waits],
      world: (id) => `${name}-${id}`,
      ...more,
    });
    open.push(fleet);
    return fleet;
  }

  const failure = (call: Promise<unknown>): Promise<RepriseError> =>
    call.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => error as RepriseError,
    );

  it('whatever an operation throws reaches its caller here and elsewhere as one error, after one execution', async () => {
    const name = own.fresh();
    const [a, b] = [await join(name), await join(name)];
    await a.use('antwerp', () => undefined);
    for (const what of Object.keys(THROWN))
      for (const fleet of [a, b]) {
        runs = 0;
        const error = await failure(fleet.call('antwerp', throws, what, { within: 5_000 }));
        const isOwn = ['half a character', 'details that throw', 'a long sentence'].includes(what);
        expect([error.code, runs], what).toEqual([isOwn ? 'cell_absent' : 'operation_failed', 1]);
      }
  });

  it('a process of a shorter lease hears that one of a longer lease lives', async () => {
    const name = own.fresh();
    const [long, short] = [await join(name, { ttl: 60_000 }), await join(name, { ttl: 1_000 })];
    await long.use('antwerp', () => undefined);
    gate = new Promise((resolve) => setTimeout(resolve, 900)); // more than a quarter of the shorter lease
    expect(await short.call('antwerp', waits, null)).toBe('done');
    expect(runs).toBe(1);
  });

  it('a host with an address of another kind is one that cannot be reached', async () => {
    for (const address of ['https://10.0.0.7:8080', 'machine 7']) {
      const name = own.fresh();
      const database = postgres(own.url, { address });
      const store = (id: string) => database.world(`${name}-${id}`);
      const host = await openHost({ directory: database.directory(name), store, open: openShop() });
      await host.use('antwerp', () => undefined);
      const near = await join(name);
      const late = await failure(near.call('antwerp', orders, null, { within: 300 }));
      expect([late.code, late.details.reason]).toEqual(['call_unanswered', 'unreachable']);
      await host.close();
      expect(await near.call('antwerp', orders, null)).toEqual([]);
      await database.close();
    }
  });

  it('a process whose operation never ends has left after its time, and the caller is answered elsewhere', async () => {
    const name = own.fresh();
    const [a, b] = [await join(name), await join(name)];
    await a.use('antwerp', () => undefined);
    let opens: () => void = () => undefined;
    gate = new Promise((resolve) => {
      opens = resolve;
    });
    const call = b.call('antwerp', waits, null);
    await expect.poll(() => runs).toBe(1);
    const [within, begun] = [4_000, performance.now()];
    await a.close({ within });
    expect((performance.now() - begun) / within).toBeLessThan(1.7); // its connection is not waited for once more
    opens();
    expect([await call, runs]).toEqual(['done', 2]);
  });

  it('a call that waited for its world until its caller left is not executed any more', async () => {
    const a = await join(own.fresh(), { maxOpen: 1 });
    gate = Promise.resolve();
    const lease = await a.lease('antwerp'); // there is no room for another one
    const late = await failure(a.call('bergen', waits, null, { within: 100 }));
    expect([late.code, late.details.reason]).toEqual(['call_unanswered', 'slow']);
    const next = a.call('bergen', waits, null);
    lease.release();
    expect([await next, runs]).toEqual(['done', 1]);
  });

  it('a time that no timer has is refused, and the process closes all the same', async () => {
    const a = await join(own.fresh());
    for (const within of [2 ** 31, Number.MAX_SAFE_INTEGER, -1, 0.5])
      expect(() => a.close({ within })).toThrow('invalid_argument');
    await a.close();
    await a.closed;
  });

  it('a log of a fleet, its database and its host shows neither the secret nor a password', async () => {
    const url = own.url.replace('reprise@', 'reprise:hunter2@');
    const fleet = await join(own.fresh(), { database: url });
    await fleet.use('antwerp', () => undefined);
    const views = await fleet.database.views('antwerp').open();
    const directory = await fleet.database.directory().open();
    for (const thing of [fleet, fleet.database, views, directory, fleet.database.world('antwerp')]) {
      const shown = inspect(thing, { depth: 20, showHidden: true, maxArrayLength: null, maxStringLength: null });
      expect(shown.includes('hunter2') || shown.includes(SECRET)).toBe(false);
      expect(Object.values(thing).some((part) => String(part).includes('hunter2'))).toBe(false);
    }
    await Promise.all([views.close(), directory.close()]);
  });

  it('an address with a password is refused, and not shown', async () => {
    for (const address of ['http://ann:hunter2@10.0.0.7:1', 'http://:hunter2@10.0.0.7:1', 'https://:hunter2@x']) {
      const refused = await failure(join(own.fresh(), { address }));
      expect([refused.code, JSON.stringify(refused).includes('hunter2')]).toEqual(['invalid_argument', false]);
    }
  });
});
