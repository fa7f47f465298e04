/** Calls that are posted to worlds, on a real PostgreSQL: who executes them, in which order, and what their callers find. */
import type { RepriseError } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { postedCallsOf, postgres } from '@reprise/store-postgres';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import * as z from 'zod';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import { defineOperation, type Fleet, type FleetOptions, openFleet } from '../../src/index.js';
import { Delivery } from '../../src/posts/delivery.js';
import { asked, openShop, order, orders } from '../shop.js';

const SECRET = 'a secret of the tests, long enough';

const throws = defineOperation({
  name: 'shop/throws@1',
  input: z.null(),
  output: z.null(),
  run: async (world: World) => {
    await world.request(['shop/Shop@1', 'x'], { name: 'shop/No@1', value: {} });
    return null;
  },
});

/** Never ends by itself. */
let hanging = 0;
const hangs = defineOperation({
  name: 'shop/hangs@1',
  input: z.null(),
  output: z.null(),
  run: (_world: World, _input, { signal }) => {
    hanging++;
    return new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null)));
  },
});

describePostgres('a posted call', (own) => {
  const open: Fleet<World>[] = [];
  afterEach(async () => {
    for (const fleet of open.splice(0)) await fleet.close({ within: 0 });
  });

  async function join(name: string, more: Partial<FleetOptions<World>> = {}): Promise<Fleet<World>> {
    const fleet = await openFleet<World>({
      ...{ database: own.url, secret: SECRET, name, ttl: 4_000, open: openShop() },
      operations: [order, orders, asked, throws, hangs],
      world: (id) => {
        if (id === 'nowhere') throw new TypeError('no such shop');
        return `${name}-${id}`;
      },
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

  const sql = async (text: string, values: unknown[] = []): Promise<readonly pg.QueryResultRow[]> => {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    const { rows } = await client.query(text, values);
    await client.end();
    return rows;
  };

  it('a posted call is executed where the world is open, and its answer is found in any process', async () => {
    const name = own.fresh();
    const [a, b] = [await join(name), await join(name)];
    await a.use('antwerp', () => undefined);
    const posted = await b.post('antwerp', order, { order: 'lamp', pays: false }, { id: 'r-1', as: 'human:ann' });
    expect(posted).toEqual({ id: 'r-1', as: 'human:ann' });
    const answers = await Promise.all([a, b].map((fleet) => fleet.answer('antwerp', order, posted)));
    expect(answers[0]).toEqual(answers[1]);
    expect([a.openCount, b.openCount]).toEqual([1, 0]);
    const who = await b.post('antwerp', asked, null, { as: 'human:bob' });
    expect(await b.answer('antwerp', asked, who)).toMatchObject(who);
    // A call with the same id finds what the posted one did.
    const called = await b.call('antwerp', order, { order: 'lamp', pays: false }, { id: 'r-1', as: 'human:ann' });
    expect([called, await b.call('antwerp', orders, null)]).toEqual([answers[0], ['lamp']]);
  });

  it('a world that nobody has is opened for its posted calls, also those of a process that is gone', async () => {
    const name = own.fresh();
    const gone = await join(name, { operations: [order] });
    await gone.close();
    const a = await join(name);
    const posted = await a.post('bergen', order, { order: 'lamp', pays: false });
    expect((await a.answer('bergen', order, posted)).frame).toBeGreaterThan(0);
    expect(a.openCount).toBe(1);
  });

  it('a call that is posted again is there once, and its answer stays until its time is over', async () => {
    const name = own.fresh();
    const a = await join(name, { posts: { keepMs: 86_400_000 } });
    const options = { id: 'r-1', as: 'human:ann' } as const;
    for (let n = 0; n < 3; n++) await a.post('antwerp', order, { order: 'lamp', pays: false }, options);
    const first = await a.answer('antwerp', order, options);
    await a.post('antwerp', order, { order: 'lamp', pays: false }, options);
    expect(await a.answer('antwerp', order, { ...options, within: 0 })).toEqual(first);
    const other = await failure(a.post('antwerp', order, { order: 'desk', pays: false }, options));
    expect(other.code).toBe('request_conflict');
    expect((await failure(a.answer('antwerp', orders, options))).code).toBe('request_conflict');
    await sql("UPDATE reprise.posted_call SET answered = answered - interval '25 hours' WHERE request = 'r-1'");
    await join(name); // a process that begins removes what is old
    const now = () => a.answer('antwerp', order, { ...options, within: 0 });
    const reason = () =>
      now().then(
        () => 'answered',
        (error: RepriseError) => error.details.reason,
      );
    await expect.poll(reason).toBe('forgotten');
    await a.post('antwerp', order, { order: 'lamp', pays: false }, options);
    expect([await a.answer('antwerp', order, options), await a.call('antwerp', orders, null)]).toEqual([
      first,
      ['lamp'],
    ]);
  });

  it('pages of worlds with posted calls leave none out, whatever join the database prefers', async () => {
    const name = own.fresh();
    await using database = postgres(
      `${own.url}?options=${encodeURIComponent('-c enable_nestloop=off -c enable_mergejoin=off')}`,
    );
    const posts = await postedCallsOf(database, name, []);
    const worlds = Array.from({ length: 90 }, (_, n) => `w${String(n).padStart(3, '0')}`);
    const call = { principal: 'operator', request: 'r', operation: order.name, input: new Uint8Array() };
    for (const world of worlds) await posts.put({ ...call, world });
    // Many worlds that are open elsewhere: the smaller side of a join is the one that waits.
    await sql(
      `INSERT INTO reprise.directory_row (directory, world, open)
       SELECT id, convert_to('z' || n, 'UTF8'), true FROM reprise.directory, generate_series(1, 20000) n WHERE name = $1`,
      [Buffer.from(name)],
    );
    await sql('ANALYZE reprise.directory_row');
    const found: string[] = [];
    for (let page = await posts.worlds('', 20); page.length > 0; page = await posts.worlds(found.at(-1) ?? '', 20))
      found.push(...page.map(({ world }) => world));
    expect(found).toEqual(worlds);
  });

  it('a call that is refused has its refusal as the answer, with the code and the details', async () => {
    const a = await join(own.fresh());
    const posted = await a.post('antwerp', throws, null);
    expect((await failure(a.answer('antwerp', throws, posted))).code).toBe('unknown_event');
    const wrong = await failure(a.post('antwerp', order, { order: 7 } as never));
    expect([wrong.code, wrong.details.where]).toEqual(['invalid_argument', '$.order']);
    expect(await failure(a.post('nowhere', orders, null))).toBeInstanceOf(TypeError);
    expect((await failure(a.post('', orders, null))).code).toBe('invalid_argument');
    for (const options of [{ id: 'a\0b' }, { as: 'human:a\0b' }] as const)
      expect((await failure(a.post('antwerp', orders, null, options))).code).toBe('invalid_argument');
  });

  it('an answer that is not there yet is waited for, and not longer than its caller waits', async () => {
    const a = await join(own.fresh(), { posts: { runMs: 60_000 } });
    const posted = await a.post('antwerp', hangs, null);
    const late = await failure(a.answer('antwerp', hangs, { ...posted, within: 50 }));
    expect([late.code, late.details.reason]).toEqual(['call_unanswered', 'waiting']);
    const stop = new AbortController();
    const waiting = failure(a.answer('antwerp', hangs, { ...posted, signal: stop.signal }));
    stop.abort();
    expect((await waiting).details.reason).toBe('waiting');
    const never = await failure(a.answer('antwerp', hangs, { id: 'no such id', within: 50 }));
    expect([never.code, never.details.reason]).toEqual(['call_unanswered', 'forgotten']);
  });

  it('a posted call that never ends keeps only its own principal waiting, and is given up in the end', async () => {
    const name = own.fresh();
    hanging = 0;
    const a = await join(name, { posts: { runMs: 1_500, lookMs: 50 } });
    const poison = await a.post('antwerp', hangs, null, { as: 'human:eve' });
    const behind = await a.post('antwerp', order, { order: 'eve', pays: false }, { as: 'human:eve' });
    const beside = await a.post('antwerp', order, { order: 'ann', pays: false }, { as: 'human:ann' });
    await a.answer('antwerp', order, { ...beside, within: 60_000 });
    expect((await failure(a.answer('antwerp', order, { ...behind, within: 0 }))).details.reason).toBe('waiting');
    await expect.poll(() => hanging).toBeGreaterThan(1); // it is tried again
    await sql("UPDATE reprise.posted_call SET tries = 8 WHERE principal = 'human:eve' AND operation = 'shop/hangs@1'");
    const given = await failure(a.answer('antwerp', hangs, { ...poison, within: 60_000 }));
    expect([given.code, given.details.reason]).toEqual(['call_unanswered', 'abandoned']);
    await a.answer('antwerp', order, { ...behind, within: 60_000 });
    expect(await a.call('antwerp', orders, null)).toEqual(['ann', 'eve']);
  });

  it('calls of each principal are executed in the order in which they were posted', async () => {
    const name = own.fresh();
    const [a, b] = [await join(name), await join(name)];
    const principals = ['human:ann', 'human:bob', 'human:cyd'] as const;
    const posted = await Promise.all(
      principals.map(async (as) => {
        const all: { id: string; as: (typeof principals)[number] }[] = [];
        for (let n = 0; n < 20; n++) {
          const fleet = n % 2 === 0 ? a : b;
          const id = `${as} ${n}`;
          await fleet.post('antwerp', order, { order: id, pays: false }, { id, as });
          all.push({ id, as });
        }
        return all;
      }),
    );
    await Promise.all(posted.flat().map((one) => b.answer('antwerp', order, one)));
    const taken = await a.call('antwerp', orders, null);
    for (const all of posted)
      expect(taken.filter((one) => one.startsWith(all[0]?.as ?? '?'))).toEqual(all.map(({ id }) => id));
    expect(taken.length).toBe(60);
  });

  it('posted calls that no process knows the operation of wait, and the status of the fleet shows them', async () => {
    const name = own.fresh();
    const old = await join(name, { operations: [orders] });
    const fresh = await join(name);
    await fresh.close();
    const again = await join(name, { operations: [order, orders], posts: { lookMs: 50 } });
    await old.use('antwerp', () => undefined); // and keeps it
    const posted = await again.post('antwerp', order, { order: 'lamp', pays: false });
    const { directories } = await again.database.fleet();
    expect(directories).toContainEqual(expect.objectContaining({ name, posted: 1 }));
    expect((await failure(again.answer('antwerp', order, { ...posted, within: 300 }))).details.reason).toBe('waiting');
    await old.close();
    expect((await again.answer('antwerp', order, posted)).frame).toBeGreaterThan(0);
    expect((await again.database.fleet()).directories).toContainEqual(
      expect.objectContaining({ name, posted: 0, postedMs: 0 }),
    );
  });

  it('a posted call whose operation no process knows keeps no other principal waiting, and after an hour of that it is given up [FLEET-21, FLEET-23]', async () => {
    const name = own.fresh();
    await using database = postgres(own.url, { connectionsMax: 3 });
    const posts = await postedCallsOf(database, name, [orders.name]);
    const gone = { world: 'antwerp', operation: 'shop/gone@1', input: new Uint8Array([246]) };
    await posts.put({ ...gone, principal: 'human:eve', request: 'r-1' });
    const a = await join(name, { posts: { lookMs: 50 } });
    const behind = await a.post('antwerp', order, { order: 'eve', pays: false }, { as: 'human:eve' });
    const beside = await a.post('antwerp', order, { order: 'ann', pays: false }, { as: 'human:ann' });
    await a.answer('antwerp', order, beside); // although the first call of the world is one that nobody knows
    const status = async () => (await a.database.fleet()).directories.find((one) => one.name === name);
    await expect.poll(status).toMatchObject({ posted: 2, unknown: 1 });

    const hour = 3_600_000;
    let [now, looks] = [0, 0];
    const worlds = posts.worlds.bind(posts);
    const counted = Object.assign(posts, {
      worlds: (after: string, limit: number) => {
        looks++;
        return worlds(after, limit);
      },
    });
    const delivery = new Delivery({
      ...{ posts: counted, lookMs: 1, runMs: 1_000, keepMs: hour, now: () => now },
      attempt: async () => ({ kind: 'again', reason: 'unknown_operation' }),
      lease: async () => ({ release: () => undefined }),
      failed: (error) => expect.fail(String(error)),
    });
    delivery.start();
    const swept = async (at: number) => {
      now = at;
      const wanted = looks + 2; // the second one begins after the removal of the first
      await expect.poll(() => looks).toBeGreaterThanOrEqual(wanted);
    };
    const waits = async () =>
      expect(await posts.find({ world: 'antwerp', principal: 'human:eve', request: 'r-1' })).not.toHaveProperty(
        'answer',
      );
    await swept(hour - 1);
    await sql("UPDATE reprise.posted_call SET made = made - interval '2 hours' WHERE request = 'r-1'");
    await waits(); // old, and this process has not looked for an hour
    await sql(
      "INSERT INTO reprise.posted_operation SELECT id, 'shop/gone@1', clock_timestamp() FROM reprise.directory WHERE name = $1",
      [Buffer.from(name)],
    );
    for (const at of [2, 3, 4]) await swept(at * hour);
    await waits(); // a process was heard of that knows it
    expect(await status()).toMatchObject({ posted: 2, unknown: 0 });
    await sql("UPDATE reprise.posted_operation SET known = known - interval '2 hours' WHERE operation = 'shop/gone@1'");
    for (const at of [5, 6]) await swept(at * hour);
    await a.answer('antwerp', order, behind);
    await delivery.stop();
    const operation = defineOperation({ ...orders, name: gone.operation });
    const late = await join(name, { operations: [operation] });
    const given = await failure(late.answer('antwerp', operation, { id: 'r-1', as: 'human:eve', within: 0 }));
    expect([given.code, given.details.reason]).toEqual(['call_unanswered', 'unknown_operation']);
    expect(await late.database.fleet()).toMatchObject({
      directories: expect.arrayContaining([expect.objectContaining({ name, posted: 0, unknown: 0 })]),
    });
  });

  it('a process that cannot be reached executes what is posted to its worlds, and keeps them', async () => {
    const name = own.fresh();
    const far = await join(name, { address: 'http://127.0.0.1:1' });
    const near = await join(name);
    await far.call('antwerp', orders, null);
    const posted = await near.post('antwerp', order, { order: 'lamp', pays: false });
    expect((await near.answer('antwerp', order, posted)).frame).toBeGreaterThan(0);
    expect([far.openCount, near.openCount]).toEqual([1, 0]);
  });

  it('a process that leaves finishes what it began, and takes nothing more', async () => {
    const name = own.fresh();
    const [a, b] = [await join(name), await join(name)];
    await a.use('antwerp', () => undefined);
    const posted = [];
    for (let n = 0; n < 30; n++)
      posted.push(await b.post('antwerp', order, { order: `${n}`, pays: false }, { id: `r-${n}` }));
    await a.close();
    expect((await failure(a.post('antwerp', orders, null))).code).toBe('host_closed');
    expect((await failure(a.answer('antwerp', order, { id: 'r-1' }))).code).toBe('host_closed');
    for (const one of posted) await b.answer('antwerp', order, one);
    expect(await b.call('antwerp', orders, null)).toEqual(posted.map((_, n) => `${n}`));
  });

  it('more calls than may wait for a world are refused', async () => {
    const name = own.fresh();
    const a = await join(name, { posts: { lookMs: 3_600_000 }, operations: [order, hangs] });
    await sql(
      `INSERT INTO reprise.posted_call (directory, key, world, principal, request, operation, input)
       SELECT d.id, decode(md5(n::text), 'hex'), 'full', 'human:eve', n::text, 'shop/none@1', ''
       FROM reprise.directory d, generate_series(1, 10000) n WHERE d.name = $1`,
      [Buffer.from(name)],
    );
    expect((await failure(a.post('full', order, { order: 'x', pays: false }))).code).toBe('bound_exceeded');
    await sql("DELETE FROM reprise.posted_call WHERE request = '1'");
    await a.post('full', order, { order: 'x', pays: false });
  });
});
