/** Calls of worlds from two processes' worth of fleets, on a real PostgreSQL and over real HTTP. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { isRepriseError, type RepriseError } from '@reprise/contracts';
import { encode, openKernelWorld, type World } from '@reprise/kernel';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import * as z from 'zod';
import { describePostgres } from '../../store-postgres/test/describe-postgres.js';
import { Sender } from '../src/http/sender.js';
import { defineOperation, type Fleet, type FleetOptions, openFleet } from '../src/index.js';
import { Secrets, writeCall } from '../src/wire/seal.js';
import { APPS, adaptersOf, OPERATIONS, type Release } from './processes/deployment/releases.js';
import { asked, openShop, order, orders } from './shop.js';

const SECRET = 'a secret of the tests, long enough';

/** Operations that show what an operation may meet. */
const broken = defineOperation({
  name: 'shop/broken@1',
  input: z.enum(['throws', 'refuses', 'lies', 'is large']),
  output: z.string(),
  run: async (world: World, how) => {
    if (how === 'throws') throw new TypeError('a bug');
    if (how === 'refuses') await world.request(['shop/Shop@1', 'x'], { name: 'shop/Nothing@1', value: {} });
    return how === 'lies' ? (7 as never) : 'x'.repeat(2 ** 20);
  },
});

/** Waits until a test lets it go on, and says whether it was aborted. */
let gate: { readonly open: () => void; readonly opened: Promise<void> };
let begun = 0;
let aborted = 0;
const waits = defineOperation({
  name: 'shop/waits@1',
  input: z.null(),
  output: z.string(),
  run: async (_world: World, _input, { signal }) => {
    begun++;
    signal.addEventListener('abort', () => aborted++);
    await gate.opened;
    return 'done';
  },
});

describePostgres('a fleet', (own) => {
  const open: Fleet<World>[] = [];
  const names = new Map<Fleet<World>, string>();
  const nameOf = (fleet: Fleet<World>) => names.get(fleet) ?? '';
  afterEach(async () => {
    for (const fleet of open.splice(0)) await fleet.close({ within: 0 });
  });

  async function join(name: string, more: Partial<FleetOptions<World>> = {}): Promise<Fleet<World>> {
    const fleet = await openFleet<World>({
      ...{ database: own.url, secret: SECRET, name, ttl: 4_000, open: openShop() },
      operations: [order, orders, asked, broken, waits],
      world: (id) => `${name}-${id}`,
      ...more,
    });
    open.push(fleet);
    names.set(fleet, name);
    return fleet;
  }

  async function two(more: Partial<FleetOptions<World>> = {}) {
    const name = own.fresh();
    const [a, b] = [await join(name, more), await join(name, more)];
    await a.use('antwerp', () => undefined); // a has it open
    return { a, b };
  }

  const failure = (call: Promise<unknown>): Promise<RepriseError> =>
    call.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => error as RepriseError,
    );

  async function sql(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    await client.query(text);
    await client.end();
  }

  function closeGate(): void {
    [begun, aborted] = [0, 0];
    let opens: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      opens = resolve;
    });
    gate = { open: opens, opened };
  }

  it('a call runs where the world is open, with the id and the principal of its caller', async () => {
    const { a, b } = await two();
    const options = { id: 'r-1', as: 'human:ann' } as const;
    for (const fleet of [a, b]) expect(await fleet.call('antwerp', asked, null, options)).toMatchObject(options);
    expect([a.openCount, b.openCount]).toEqual([1, 0]);
    expect(await b.call('bergen', orders, null)).toEqual([]);
    expect([a.openCount, b.openCount]).toEqual([1, 1]); // nobody had it
  });

  it('a call that is made again with its id is executed once, whichever process it comes from', async () => {
    const { a, b } = await two();
    const frames = [];
    for (const fleet of [b, a, b])
      frames.push((await fleet.call('antwerp', order, { order: 'lamp', pays: false }, { id: 'r-1' })).frame);
    expect(new Set(frames).size).toBe(1);
    expect(await b.call('antwerp', orders, null)).toEqual(['lamp']);
    const other = await failure(b.call('antwerp', order, { order: 'desk', pays: false }, { id: 'r-1' }));
    expect(other.code).toBe('request_conflict');
  });

  it('a call fails in the same way here and elsewhere: with the code, the sentence and the details, and without a stack', async () => {
    const told: unknown[] = [];
    const { a, b } = await two({ onError: ({ error }) => told.push(error) });
    for (const how of ['throws', 'refuses', 'lies', 'is large'] as const) {
      const [here, there] = [
        await failure(a.call('antwerp', broken, how)),
        await failure(b.call('antwerp', broken, how)),
      ];
      expect([there.code, there.what]).toEqual([here.code, here.what]);
      expect(there.details.hint).toBe(here.details.hint);
      expect(there.details.cause).toBeUndefined();
      expect(JSON.stringify(there)).not.toContain('broken.ts');
    }
    expect((await failure(b.call('antwerp', broken, 'throws'))).code).toBe('operation_failed');
    expect((await failure(b.call('antwerp', broken, 'refuses'))).code).toBe('unknown_event');
    expect((await failure(b.call('antwerp', broken, 'lies'))).code).toBe('operation_failed');
    expect(told.filter((error) => isRepriseError(error, 'operation_failed')).length).toBeGreaterThan(0);
  });

  it('an input that the operation refuses, or that is too large, is not sent', async () => {
    const { b } = await two();
    const wrong = await failure(b.call('antwerp', order, { order: 7 } as never));
    expect([wrong.code, wrong.details.where]).toEqual(['invalid_argument', '$.order']);
    const large = await failure(b.call('antwerp', order, { order: 'x'.repeat(2 ** 20), pays: false }));
    expect(large.code).toBe('bound_exceeded');
    const stranger = { ...order };
    expect((await failure(b.call('antwerp', stranger as typeof order, { order: 'x', pays: false }))).code).toBe(
      'invalid_argument',
    );
  });

  it('a call that is not answered in its time ends with call_unanswered, and its operation is told', async () => {
    const { a, b } = await two();
    for (const fleet of [a, b]) {
      closeGate();
      const late = await failure(fleet.call('antwerp', waits, null, { within: 300 }));
      expect([late.code, late.details.reason]).toEqual(['call_unanswered', 'slow']);
      await expect.poll(() => [begun, aborted]).toEqual([1, 1]);
      gate.open();
    }
  });

  it('a call that its caller stops ends at once, and its operation is told', async () => {
    const { a, b } = await two();
    for (const fleet of [a, b]) {
      closeGate();
      const stop = new AbortController();
      const call = failure(fleet.call('antwerp', waits, null, { signal: stop.signal }));
      await expect.poll(() => begun).toBe(1);
      stop.abort('enough');
      const stopped = await call;
      expect([stopped.code, stopped.details.reason]).toEqual(['call_unanswered', 'aborted']);
      await expect.poll(() => aborted).toBe(1);
      gate.open();
    }
  });

  it('an operation that takes longer than the silence of a dead process is waited for', async () => {
    const { b } = await two({ ttl: 1_000 });
    closeGate();
    const call = b.call('antwerp', waits, null);
    await new Promise((resolve) => setTimeout(resolve, 700)); // more than a quarter of the lease
    gate.open();
    expect(await call).toBe('done');
    expect(begun).toBe(1);
  });

  it('a process that closes finishes what runs, and callers elsewhere wait and see no error', async () => {
    const { a, b } = await two();
    await a.use('bergen', () => undefined);
    closeGate();
    const running = b.call('antwerp', waits, null);
    await expect.poll(() => begun).toBe(1);
    const closing = a.close();
    const idle = await b.call('bergen', order, { order: 'lamp', pays: false }, { id: 'r-2' }); // released at once
    expect(idle.frame).toBeGreaterThan(0);
    const waiting = b.call('antwerp', order, { order: 'lamp', pays: false }, { id: 'r-3' });
    gate.open();
    expect(await running).toBe('done');
    expect((await waiting).frame).toBeGreaterThan(0);
    await closing;
    expect(await b.call('antwerp', orders, null)).toEqual(['lamp']);
    expect((await failure(a.call('antwerp', orders, null))).code).toBe('host_closed');
  });

  it('a process that is asked to leave closes by itself, after it has told its app', async () => {
    const name = own.fresh();
    let told = 0;
    const a = await join(name, { ttl: 400, onDrain: () => told++ });
    const b = await join(name, { ttl: 400 });
    await a.call('antwerp', order, { order: 'lamp', pays: false });
    const { hosts, directories } = await b.database.fleet();
    const [host] = hosts.filter(({ address }) => address === a.address);
    expect(host).toMatchObject({ open: 1, leaving: false });
    expect(directories).toContainEqual({
      name,
      open: 1,
      waiting: 0,
      due: 0,
      lateMs: 0,
      posted: 0,
      postedMs: 0,
      unknown: 0,
    });
    expect(await b.database.drain(host?.id ?? '')).toBe(true);
    await a.closed;
    expect(told).toBe(1);
    expect(await b.call('antwerp', orders, null)).toEqual(['lamp']);
    expect(await b.database.drain(host?.id ?? '')).toBe(false);
  });

  it('a process that cannot be reached keeps its world while its lease lives, and calls of it say so', async () => {
    const name = own.fresh();
    const far = await join(name, { address: 'http://127.0.0.1:1' });
    const near = await join(name);
    await far.call('antwerp', order, { order: 'lamp', pays: false });
    const late = await failure(near.call('antwerp', orders, null, { within: 700 }));
    expect([late.code, late.details.reason]).toEqual(['call_unanswered', 'unreachable']);
    expect(await far.call('antwerp', orders, null)).toEqual(['lamp']); // it was never fenced
    await expect.poll(() => [far.openCount, near.openCount]).toEqual([1, 0]); // a refused opening counts until its end
  });

  it('a call that comes to a process without the world is not sent on: the answer says where the world is', async () => {
    const { a, b } = await two();
    const sender = new Sender(new Secrets([SECRET]));
    const fleet = `${await b.database.id()} ${nameOf(a)}`;
    const body = writeCall({
      ...{ fleet, to: b.address, world: 'antwerp', operation: asked.name, input: encode(null), id: 'r-1' },
      ...{ as: 'operator', within: 5_000, patience: 80, at: Date.now(), nonce: 'a number of one use' },
    });
    const outcome = await sender.send(b.address, { body, patienceMs: 5_000, signal: new AbortController().signal });
    expect(outcome).toEqual({ kind: 'elsewhere', address: a.address });
    sender.close();
  });

  it('a process that believes a world elsewhere finds it again after it has moved', async () => {
    const name = own.fresh();
    const [a, b, c] = [await join(name, { maxOpen: 1 }), await join(name), await join(name)];
    await a.call('antwerp', order, { order: 'lamp', pays: false });
    expect(await b.call('antwerp', orders, null)).toEqual(['lamp']);
    await a.use('bergen', () => undefined); // a has room for one
    await c.call('antwerp', order, { order: 'desk', pays: false });
    expect(await b.call('antwerp', orders, null)).toEqual(['lamp', 'desk']);
    expect([b.openCount, c.openCount]).toEqual([0, 1]);
  });

  it('a connection on which nothing was sent does not keep a process from leaving', async () => {
    const fleet = await join(own.fresh());
    const socket = connect(Number(new URL(fleet.address).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.resume();
    await fleet.use('antwerp', () => undefined); // the process has seen the connection meanwhile
    const begun = performance.now();
    await fleet.close({ within: 60_000 });
    expect(performance.now() - begun).toBeLessThan(5_000); // the door itself ends such a connection after 10 s
  });

  it('a door that is taken is refused, and leaves nothing behind', async () => {
    const name = own.fresh();
    const a = await join(name);
    const refused = await failure(join(name, { listen: { port: Number(new URL(a.address).port) } }));
    expect([refused.code, refused.details.where]).toEqual(['invalid_argument', 'listen']);
  });

  it('processes with different secrets do not hear each other, until both have both', async () => {
    const name = own.fresh();
    const next = 'the secret that comes after it, of 32 bytes or more';
    const a = await join(name, { secret: SECRET });
    const stranger = await join(name, { secret: next });
    const both = await join(name, { secret: [next, SECRET] });
    await a.use('antwerp', () => undefined);
    const refused = await failure(stranger.call('antwerp', orders, null, { within: 400 }));
    expect([refused.code, refused.details.reason]).toEqual(['call_unanswered', 'refused']);
    await both.use('bergen', () => undefined);
    expect(await stranger.call('bergen', orders, null)).toEqual([]); // signed with the next one
    expect(await a.call('bergen', orders, null)).toEqual([]); // and with the one before
  });

  it('a world that this process refuses to open is asked for at the next process, and its error is shown when there is no other one', async () => {
    const name = own.fresh();
    const of = (release: Release) =>
      join(name, {
        open: (_id, base) =>
          openKernelWorld({ ...base, app: APPS[release], adapters: adaptersOf(release, async () => true) }),
        operations: Object.values(OPERATIONS),
      });
    const [older, newer] = [await of('first'), await of('second')];
    const ordered = (fleet: Fleet<World>, id: string) =>
      fleet.call('antwerp', OPERATIONS.order, { order: id }, { id, within: 20_000 });
    await ordered(older, 'one');
    await older.close();
    await ordered(newer, 'two'); // its cell is migrated
    await newer.close();
    const stranger = await join(own.fresh()); // of another fleet in the database
    const alone = await of('first');
    expect((await failure(ordered(alone, 'three'))).code).toBe('manifest_mismatch');
    await stranger.close();
    const other = await of('second');
    // As a newer release leaves them, which has added tables: the processes before it go on.
    await sql('UPDATE reprise.meta SET version = version + 1');
    try {
      await ordered(alone, 'three');
    } finally {
      await sql('UPDATE reprise.meta SET version = version - 1');
    }
    const { state } = await alone.call('antwerp', OPERATIONS.look, null);
    expect((JSON.parse(state) as { orders: unknown }).orders).toEqual([
      { order: 'one', release: 1 },
      { order: 'two', release: 2 },
      { order: 'three', release: 2 },
    ]);
    expect([alone.openCount, other.openCount]).toEqual([0, 1]);
    await other.close();
    const same = await of('first');
    const error = await failure(alone.call('antwerp', OPERATIONS.look, null, { within: 2_500 }));
    expect([error.code, error.details.reason]).toEqual(['call_unanswered', 'wrong_release']);
    await same.close();
  });

  it('an operation that the process with the world does not know yet is tried again until that process has left', async () => {
    const name = own.fresh();
    const old = await join(name, { operations: [order] });
    const fresh = await join(name);
    await old.call('antwerp', order, { order: 'lamp', pays: false });
    const alone = await failure(fresh.call('antwerp', orders, null, { within: 200 }));
    expect(alone.details.reason).toBe('unknown_operation');
    const call = fresh.call('antwerp', orders, null);
    await old.close();
    expect(await call).toEqual(['lamp']);
  });
});
