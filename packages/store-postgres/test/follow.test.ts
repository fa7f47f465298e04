/**
 * Readers of worlds that other processes write, on a real server. Adversary: packs that are made in the middle, take-overs,
 * erasures, connections that are cut, a server that dies and starts again, hints that never come, readers that are slow.
 */
import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { type Head, nextHead, type OpenStore, portableSha256, type StoredFrame } from '@reprise/kernel';
import { type FollowFramesOptions, followFrames } from '@reprise/kernel/follow';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { HINT_CHANNEL, Hints } from '../src/connection/hints.js';
import { postgresWithPacks } from '../src/database.js';
import { type PostgresDatabase, type PostgresOptions, postgres } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';
import { pgbouncerProgram, startPooler } from './pgbouncer.js';
import { openNetwork } from './proxy.js';

/** Long enough that only a hint explains what a reader has. */
const NEVER_MS = 3_600_000;

const SEED = Number(process.env.REPRISE_SEED ?? 20261130);

/** Numbers from 0, below 1, that a seed repeats (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('hints', () => {
  const sent: string[] = [];
  const connections = (answer: () => Promise<unknown>) => ({
    label: 'a database',
    rows: async (_what: string, _text: string, given: readonly unknown[] = []) => {
      sent.push(String(given[1]));
      await answer();
      return [];
    },
    transaction: async () => expect.fail('a hint is no transaction'),
    end: async () => undefined,
  });

  it('hints that come while a statement is under way go with the next one, each topic once [FLEET-19]', async () => {
    sent.length = 0;
    let go: () => void = () => undefined;
    const hints = new Hints(
      connections(
        () =>
          new Promise<void>((resolve) => {
            go = resolve;
          }),
      ),
      undefined,
    );
    for (let n = 0; n < 500; n++) hints.send(`f${n % 7}`);
    expect(sent).toEqual(['f0']);
    go();
    await expect.poll(() => sent.length).toBe(2);
    expect(sent[1]?.split(' ').sort()).toEqual(['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6']);
    go();
    await turn();
    expect(sent.length).toBe(2);
  });

  it('a notification has fewer bytes than the server takes, and hints about too much are one about everything [FLEET-19]', async () => {
    sent.length = 0;
    const hints = new Hints(connections(turn), undefined);
    for (let n = 0; n < 1_900; n++) hints.send(`f${10 ** 12 + n}`);
    await turn();
    await expect.poll(() => sent.join(' ').split(' ').length).toBe(1_900);
    expect(Math.max(...sent.map((one) => one.length))).toBeLessThan(8_000);
    sent.length = 0;
    const many = new Hints(connections(turn), undefined);
    for (let n = 0; n < 5_000; n++) many.send(`f${n}`);
    await expect.poll(() => sent).toEqual(['f0', '*']);
  });

  it('a hint that cannot be sent is lost, and the next one is sent [FLEET-19]', async () => {
    sent.length = 0;
    const hints = new Hints(
      connections(() => Promise.reject(new Error('away'))),
      undefined,
    );
    hints.send('f1');
    await turn();
    hints.send('f2');
    await expect.poll(() => sent).toEqual(['f1', 'f2']);
  });

  it('a hint that comes while the one before ends is sent, at whichever step of its end [FLEET-19]', async () => {
    for (let steps = 0; steps < 12; steps++) {
      sent.length = 0;
      const hints = new Hints(
        connections(async () => undefined),
        undefined,
      );
      hints.send('f1');
      for (let n = 0; n < steps; n++) await Promise.resolve();
      hints.send('f2');
      await turn();
      expect([steps, sent]).toEqual([steps, ['f1', 'f2']]);
    }
  });
});

describePostgres('a reader elsewhere', (own) => {
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });
  const keep = <T extends AsyncDisposable>(one: T): T => {
    open.push(one);
    return one;
  };
  const database = (options: PostgresOptions = {}, url = own.url): PostgresDatabase => keep(postgres(url, options));

  /** Appends frames of random bytes to an open world. */
  async function writer(store: OpenStore) {
    let head: Head = await store.journal.head();
    return async (count: number, size = 40): Promise<number> => {
      const frames: StoredFrame[] = [];
      for (let n = 0, last = head; n < count; n++) {
        const bytes = new Uint8Array(randomBytes(size));
        last = nextHead(last, bytes, portableSha256);
        frames.push({ seq: last.seq, at: last.seq, kind: 'request', head: last.digest, bytes });
      }
      head = await store.journal.append(frames, head);
      return head.seq;
    };
  }

  /** A reader that goes on until it is told to stop. */
  async function reader(
    of: PostgresDatabase,
    name: string,
    options: FollowFramesOptions = {},
    slow?: () => Promise<unknown>,
  ) {
    const store = await of.world(name).openReadonly();
    const stop = new AbortController();
    const read: StoredFrame[] = [];
    const done = (async () => {
      for await (const frame of followFrames(store, { signal: stop.signal, ...options })) {
        read.push(frame);
        await slow?.();
      }
    })();
    done.catch(() => undefined);
    const end = async (): Promise<void> => {
      stop.abort();
      await done;
      await store.close();
    };
    return { read, done, end, hex: () => read.map(hexOf) };
  }

  const hexOf = ({ seq, head, bytes }: StoredFrame): string => `${seq} ${head} ${Buffer.from(bytes).toString('hex')}`;

  async function whole(of: PostgresDatabase, name: string): Promise<readonly string[]> {
    const store = await of.world(name).openReadonly();
    const frames: string[] = [];
    for await (const frame of store.journal.read(0)) frames.push(hexOf(frame));
    await store.close();
    return frames;
  }

  async function heard(): Promise<{ readonly all: string[] } & AsyncDisposable> {
    const client = new pg.Client({ connectionString: own.url });
    const all: string[] = [];
    client.on('notification', ({ payload = '' }) => all.push(payload));
    await client.connect();
    await client.query(`LISTEN ${HINT_CHANNEL}`);
    return keep({ all, [Symbol.asyncDispose]: () => client.end() });
  }

  it('a reader is woken by a hint, long before it would look again, and is given nothing when it has left', async () => {
    const [name, owner, other] = [own.fresh(), database(), database()];
    const append = await writer(await owner.world(name).open());
    await append(3);
    const { read, hex, end } = await reader(other, name, { pollMs: NEVER_MS });
    for (let n = 0; n < 20; n++) {
      const seq = await append(1 + (n % 3));
      await expect.poll(() => read.at(-1)?.seq).toBe(seq);
    }
    expect(hex()).toEqual(await whole(other, name));
    await end();
  });

  it('a world that nobody follows is appended to without a notification, and one that is followed with one for each at most', async () => {
    const [name, owner, other] = [own.fresh(), database(), database()];
    const append = await writer(await owner.world(name).open());
    const { all } = await heard();
    for (let n = 0; n < 10; n++) await append(5);
    const { read, end } = await reader(other, name, { pollMs: NEVER_MS });
    await expect.poll(() => read.length).toBe(50);
    expect(all).toEqual([]);
    let seq = 0;
    for (let n = 0; n < 10; n++) seq = await append(5);
    await expect.poll(() => read.at(-1)?.seq).toBe(seq);
    expect(all.length).toBeGreaterThan(0);
    expect(all.length).toBeLessThanOrEqual(10);
    await end();
  });

  it('a reader without hints, or with a role that may only read, gets everything by looking', async () => {
    const [name, owner] = [own.fresh(), database()];
    const append = await writer(await owner.world(name).open());
    await append(2);
    const admin = new pg.Client({ connectionString: own.url });
    await admin.connect();
    await admin.query(`CREATE ROLE looks LOGIN; GRANT USAGE ON SCHEMA reprise TO looks;
      GRANT SELECT ON ALL TABLES IN SCHEMA reprise TO looks`);
    const role = database({}, own.url.replace('reprise@', 'looks@'));
    const readers = [
      await reader(database({ pooled: true }), name, { pollMs: 20 }),
      await reader(role, name, { pollMs: 20 }),
    ];
    for (let n = 0; n < 10; n++) await append(1 + (n % 4));
    const all = await whole(owner, name);
    for (const { hex, end } of readers) {
      await expect.poll(() => hex().length).toBe(all.length);
      expect(hex()).toEqual(all);
      await end();
    }
    await admin.query('DROP OWNED BY looks; DROP ROLE looks');
    await admin.end();
  });

  it.skipIf(pgbouncerProgram() === undefined)(
    'a reader behind a pooler is woken on a connection to the server itself',
    async () => {
      const pooler = await startPooler(own.server.port);
      const [name, owner] = [own.fresh(), database({ pooled: true }, pooler.url)];
      const append = await writer(await owner.world(name).open());
      const other = postgres(pooler.url, { pooled: true, direct: own.url });
      const { read, end } = await reader(other, name, { pollMs: NEVER_MS });
      for (let n = 0; n < 5; n++) {
        const seq = await append(1);
        await expect.poll(() => read.at(-1)?.seq).toBe(seq);
      }
      await end();
      await other.close();
      await owner.close();
      await pooler.stop();
    },
  );

  it('a reader whose connection for hints is cut is woken again on the next one', async () => {
    const network = await openNetwork(own.server.port);
    const [name, owner] = [own.fresh(), database()];
    const append = await writer(await owner.world(name).open());
    await append(1);
    const direct = own.url.replace(`:${own.server.port}/`, `:${network.port}/`);
    const other = database({ direct });
    const { read, end } = await reader(other, name, { pollMs: NEVER_MS });
    await expect.poll(() => read.length).toBe(1);
    network.set('cut');
    await append(1); // nobody hears of it
    network.set('passes');
    await expect.poll(() => read.length).toBe(2); // once it is connected again
    await append(1);
    await expect.poll(() => read.length).toBe(3);
    await end();
    await other.close();
    await network.close();
  });

  it('a database whose network is gone closes, although the connection for hints gets no answer', async () => {
    const network = await openNetwork(own.server.port);
    const [name, owner] = [own.fresh(), database()];
    const append = await writer(await owner.world(name).open());
    await append(1);
    const other = database({ direct: own.url.replace(`:${own.server.port}/`, `:${network.port}/`) });
    const { read, end } = await reader(other, name, { pollMs: NEVER_MS });
    await append(1);
    await expect.poll(() => read.length).toBe(2); // heard of, since no other look has come
    await end();
    network.set('stalls');
    await other.close();
    await network.close();
  });

  it('a reader of a world that has moved gets all of it, and then where it is', async () => {
    const [name, owner, other] = [own.fresh(), database(), database()];
    const world = await owner.world(name).open();
    const append = await writer(world);
    const { read, done } = await reader(other, name, { pollMs: 20 });
    await append(3);
    await world.mark('moved postgres://elsewhere/agents#home');
    await world.close();
    await expect(done).rejects.toMatchObject({
      code: 'world_elsewhere',
      details: { actual: 'postgres://elsewhere/agents#home' },
    });
    expect(read.length).toBe(3);
  });

  it(`readers have the frames of a later whole reading, byte for byte, whatever happens while they read (seed ${SEED})`, async () => {
    const random = randomOf(SEED);
    const name = own.fresh();
    const network = await openNetwork(own.server.port);
    const packing = () => keep(postgresWithPacks(8_192, own.url, { ttl: 5_000 }));
    let home = packing();
    let world = await home.world(name).open();
    let append = await writer(world);
    const refs = [];
    for (let n = 0; n < 3; n++) refs.push(await world.content.put(new Uint8Array(randomBytes(500))));
    await append(1);
    const through = database({}, own.url.replace(`:${own.server.port}/`, `:${network.port}/`));
    const readers = [
      await reader(database(), name),
      await reader(through, name, { pollMs: 50 }),
      await reader(database({ pooled: true }), name, { pollMs: 30 }, turn),
    ];
    const moves = ['take over', 'cut', 'erase', 'restart', 'take over', 'pack', 'cut', 'pack'].sort(
      () => random() - 0.5,
    );
    for (const move of moves) {
      for (let n = 0; n < 12; n++) await append(1 + Math.floor(random() * 8), 20 + Math.floor(random() * 900));
      if (move === 'erase') await world.content.erase(refs.splice(0, 1), 1);
      if (move === 'cut') network.set('cut');
      if (move === 'restart') await own.server.crashAndRestart();
      if (move === 'take over' || move === 'restart') {
        await world.close().catch(() => undefined);
        home = packing();
        world = await home.world(name).open();
        append = await writer(world);
      }
      network.set(move === 'cut' ? 'cut' : 'passes');
    }
    network.set('passes');
    await append(1);
    const all = await whole(home, name);
    expect(all.length).toBeGreaterThan(200);
    for (const { hex, end } of readers) {
      await expect.poll(() => hex().length, { timeout: 60_000 }).toBe(all.length);
      expect(hex()).toEqual(all);
      await end();
    }
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    const { rows } = await client.query('SELECT packs FROM reprise.world WHERE name = $1', [Buffer.from(name)]);
    expect(Number(rows[0]?.packs)).toBeGreaterThan(3);
    await client.end();
    await network.close();
  });
});
