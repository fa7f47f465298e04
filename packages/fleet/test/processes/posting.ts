/**
 * Random lives of three processes, of customers who post their orders and ask for the answers later, at any process, and of
 * readers who follow each world from outside.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { JournalRecord } from '@reprise/contracts';
import { type ReadonlyStore, readFrame, type StoredFrame, verifyStore } from '@reprise/kernel';
import { followFrames } from '@reprise/kernel/follow';
import { type PostgresDatabase, postgres } from '@reprise/store-postgres';
import { openNetwork, type TestNetwork } from '../../../store-postgres/test/proxy.js';
import type { TestServer } from '../../../store-postgres/test/server.js';
import { Member, openBank } from './members.js';

/** What happens to a process, or between it and the database. */
export const POST_MOVES = [
  'killed',
  'killed while nobody can reach another one',
  'stopped for longer than its lease',
  'cut off from the database',
  'readers are cut off',
] as const;
export type PostMove = (typeof POST_MOVES)[number];

const TTL_MS = 1_000;
const SECRET = 'the secret of the fleet of this law';
const WORLDS = ['antwerp', 'bergen'];
const CUSTOMERS = 4;

/** What a caller may see: each says to ask again. */
const MAY_BE: ReadonlySet<string> = new Set(['call_unanswered', 'host_closed', 'store_failed', 'gone']);

/** What a run found. */
export interface Posted {
  readonly posted: number;
  readonly frames: number;
  /** Orders whose post was acknowledged, and that are in no journal, not paid or not answered. */
  readonly lost: readonly string[];
  /** Orders that are in a journal more than once, or were paid under more than one key. */
  readonly twice: readonly string[];
  /** Customers whose orders are not in the order in which they were posted. */
  readonly disordered: readonly string[];
  /** Readers that have something else than the journal. */
  readonly misread: readonly string[];
  readonly wrong: readonly string[];
}

interface Plan {
  readonly server: TestServer;
  readonly program: string;
  readonly name: string;
  readonly random: () => number;
  readonly moves: readonly PostMove[];
}

interface Place {
  readonly network: TestNetwork;
  member: Member;
}

/** Plays the moves one after the other, under load. */
export async function postThrough({ server, program, name, random, moves }: Plan): Promise<Posted> {
  const bank = await openBank();
  const wrong: string[] = [];
  const all: Member[] = [];
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const by = (network: TestNetwork): string => server.url.replace(`:${server.port}/`, `:${network.port}/`);
  /** A process that is ready. One that a busy machine does not let begin is started again, as a supervisor does. */
  const start = async (network: TestNetwork, address = ''): Promise<Member> => {
    for (;;) {
      const database = by(network);
      const member = new Member({ program, database, name, secret: SECRET, bank: bank.url, ttl: TTL_MS, address });
      all.push(member);
      const isReady = await member.ready.then(
        () => true,
        () => false,
      );
      if (isReady) return member;
    }
  };
  const tables = postgres(server.url);
  await tables.id(); // made here, by one process that has time for it
  await tables.close();
  const places: Place[] = [];
  for (let n = 0; n < 3; n++) {
    const network = await openNetwork(server.port);
    places.push({ network, member: await start(network) });
  }
  const outside = await openNetwork(server.port);
  const databases = [postgres(by(outside)), postgres(server.url, { pooled: true })];
  const readers = WORLDS.flatMap((world) => databases.map((database) => new Reader(database, `${name}-${world}`)));
  /** The orders that were acknowledged and answered, by customer, in the order in which they were posted. */
  const [acknowledged, answered] = [new Map<string, string[]>(), new Set<string>()];
  let isOpen = true;

  async function insist(what: 'post' | 'posted', world: string, id: string, who: string): Promise<void> {
    for (;;) {
      const said = await pick(places).member.call(world, what, id, 2_000, who);
      if (said !== 'gone' && said.ok) return;
      const code = said === 'gone' ? said : String(said.said);
      if (!MAY_BE.has(code) || (said !== 'gone' && said.reason === 'forgotten')) wrong.push(`${what} ${code}`);
      await pause(20);
    }
  }

  async function customer(n: number): Promise<void> {
    const [who, world] = [`customer-${n}`, WORLDS[n % WORLDS.length] ?? ''];
    const own: string[] = [];
    const answers: Promise<void>[] = [];
    acknowledged.set(who, own);
    while (isOpen) {
      const id = `${name}-${who}-${own.length}`;
      await insist('post', world, id, who);
      own.push(id);
      answers.push(insist('posted', world, id, who).then(() => void answered.add(id)));
      if (answers.length > 3) await answers[answers.length - 4]; // a few wait at a time
      await pause(10);
    }
    await Promise.all(answers);
  }

  async function play(move: PostMove): Promise<void> {
    const place = pick(places);
    switch (move) {
      case 'killed':
      case 'killed while nobody can reach another one': {
        place.member.child.kill('SIGKILL');
        await place.member.ended;
        // The next one says an address at which nobody hears it: only posts reach its worlds.
        place.member = await start(place.network, move === 'killed' ? '' : 'http://127.0.0.1:1');
        return;
      }
      case 'stopped for longer than its lease':
        place.member.child.kill('SIGSTOP');
        await pause(1.5 * TTL_MS);
        return void place.member.child.kill('SIGCONT');
      case 'cut off from the database':
        place.network.set('cut');
        await pause(1.5 * TTL_MS);
        return place.network.set('passes');
      case 'readers are cut off':
        outside.set('cut');
        await pause(TTL_MS / 4);
        return outside.set('passes');
    }
  }

  try {
    const customers = Array.from({ length: CUSTOMERS }, (_, n) => customer(n));
    for (const move of moves) {
      const before = answered.size;
      await play(move);
      await until(() => answered.size > before + CUSTOMERS);
    }
    isOpen = false;
    await Promise.all(customers);
    const orders = [...acknowledged.values()].flat();
    await until(() => orders.every((order) => bank.keysOf.has(order)));
    for (const { member } of places) member.child.kill('SIGTERM');
    await Promise.all(places.map(({ member }) => member.ended));
    const taken = new Map<string, string[]>();
    for (const reader of readers) taken.set(reader.world, await reader.end());
    const journal = [...new Set(readers.map(({ world }) => world))].flatMap((world) => taken.get(world) ?? []);
    const count = (order: string): number => journal.filter((one) => one === order).length;
    return {
      posted: orders.length,
      frames: readers.reduce((sum, { read }) => sum + read.length, 0),
      lost: orders.filter((order) => count(order) === 0 || !bank.keysOf.has(order) || !answered.has(order)),
      twice: orders.filter((order) => count(order) > 1 || (bank.keysOf.get(order)?.size ?? 0) > 1),
      disordered: [...acknowledged].flatMap(([who, own]) =>
        journal.filter((order) => own.includes(order)).every((order, n) => order === own[n]) ? [] : [who],
      ),
      misread: readers.flatMap(({ world, trouble }) => (trouble === undefined ? [] : [`${world}: ${trouble}`])),
      wrong,
    };
  } finally {
    for (const { child } of all) child.kill('SIGKILL');
    for (const reader of readers) reader.stop();
    for (const database of databases) await database.close();
    await Promise.all([...places.map(({ network }) => network), outside].map((network) => network.close()));
    bank.close();
  }
}

/** Follows a world from outside, from its first frame on. */
class Reader {
  readonly read: StoredFrame[] = [];
  trouble: string | undefined;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(
    private readonly database: PostgresDatabase,
    readonly world: string,
  ) {
    this.#done = this.#follow().catch((error: unknown) => {
      this.trouble = String(error);
    });
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Compares what was read with the journal as it is in the end. @returns the orders in it, in their order */
  async end(): Promise<string[]> {
    const store = await this.database.world(this.world).openReadonly();
    await verifyStore(store);
    const frames: StoredFrame[] = [];
    for await (const frame of store.journal.read(0)) frames.push(frame);
    await until(() => this.read.length >= frames.length || this.trouble !== undefined);
    this.stop();
    await this.#done;
    await store.close();
    const isSame = (frame: StoredFrame, n: number): boolean =>
      frame.seq === n && Buffer.compare(frame.bytes, this.read[n]?.bytes ?? new Uint8Array()) === 0;
    if (this.read.length !== frames.length || !frames.every(isSame)) this.trouble ??= 'other frames than the journal';
    return frames.flatMap(({ bytes, seq }) =>
      (readFrame(bytes, seq).all as readonly JournalRecord[]).flatMap((record) =>
        record.kind === 'request' ? [(record.event.value as { readonly order: string }).order] : [],
      ),
    );
  }

  async #follow(): Promise<void> {
    const store = await this.#open();
    for await (const frame of followFrames(store, { from: this.read.length, signal: this.#stop.signal }))
      this.read.push(frame);
    await store.close();
  }

  /** Waits until a process has made the world, and until it can be reached. */
  async #open(): Promise<ReadonlyStore> {
    for (;;) {
      try {
        return await this.database.world(this.world).openReadonly();
      } catch (error) {
        if (!['world_absent', 'store_failed'].includes((error as { code?: string }).code ?? '')) throw error;
        await pause(50);
      }
    }
  }
}

/** How long a run waits for anything, on a machine that does much else. */
const PATIENCE_MS = 120_000;

async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !condition(); await pause(20))
    if (performance.now() > end) throw new Error('nothing happens any more');
}
