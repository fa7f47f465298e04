/**
 * Random lives of three processes, of an adversary on the ways between them, and of customers who make each call again, with
 * its id and at any process, until it is answered.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { JournalRecord } from '@reprise/contracts';
import { readFrame, verifyStore } from '@reprise/kernel';
import { postgres } from '@reprise/store-postgres';
import { openNetwork, type TestNetwork } from '../../../store-postgres/test/proxy.js';
import { freePort, type TestServer } from '../../../store-postgres/test/server.js';
import { Member, openBank } from './members.js';
import { openRoad, type Road } from './road.js';

/** What happens to a process, or to its ways. After each of them, what was sent to the processes is sent to them again. */
export const MOVES = [
  'killed',
  'killed, and taken for a process of another machine',
  'stopped for longer than its lease',
  'told to end',
  'asked to leave',
  'cut off from the others',
  'stalled',
  'its bytes are changed',
  'cut off from the database',
  'an old secret',
  'another fleet at its address',
] as const;
export type Move = (typeof MOVES)[number];

/** The lease of the processes, in milliseconds. */
export const TTL_MS = 1_000;
const SECRET = 'the secret of the fleet of this law';
const WORLDS = ['antwerp', 'bergen', 'cork', 'delft'];
const CUSTOMERS = 5;

/** Errors that a caller may see: each says to make the call again. */
const MAY_BE: ReadonlySet<string> = new Set(['call_unanswered', 'host_closed', 'gone']);

/** What a run found. */
export interface Lives {
  readonly acknowledged: number;
  /** Orders that a customer was told are taken, and that are in no journal, or not paid. */
  readonly lost: readonly string[];
  /** Orders that are in a journal more than once, or were paid under more than one key. */
  readonly twice: readonly string[];
  /** What callers saw that they may not see. */
  readonly wrong: readonly string[];
  /** The reasons for which requests were refused, and calls were not answered. */
  readonly refusals: ReadonlySet<string>;
  readonly unanswered: ReadonlySet<string>;
  readonly longestMs: number;
}

interface Place {
  readonly port: number;
  readonly road: Road;
  readonly network: TestNetwork;
  member: Member;
}

interface Plan {
  readonly server: TestServer;
  readonly program: string;
  readonly name: string;
  readonly random: () => number;
  readonly moves: readonly Move[];
}

/** Plays the moves one after the other, under load. */
export async function liveThrough({ server, program, name, random, moves }: Plan): Promise<Lives> {
  const bank = await openBank();
  const [wrong, told, unanswered]: [string[], string[], Set<string>] = [[], [], new Set()];
  const all: Member[] = [];
  const start = (
    database: string,
    more: { port?: number; address?: string; name?: string; secret?: string },
  ): Member => {
    const member = new Member({ program, database, name, secret: SECRET, bank: bank.url, ttl: TTL_MS, ...more });
    all.push(member);
    return member;
  };
  const urlBy = (network: TestNetwork): string => server.url.replace(`:${server.port}/`, `:${network.port}/`);
  const startAt = (
    { port, road, network }: Omit<Place, 'member'>,
    more: { name?: string; secret?: string } = {},
  ): Member => start(urlBy(network), { port, address: `http://127.0.0.1:${road.port}`, ...more });
  const places: Place[] = [];
  for (let i = 0; i < 3; i++) {
    const port = await freePort();
    const at = { port, road: await openRoad(port, random), network: await openNetwork(server.port) };
    places.push({ ...at, member: startAt(at) });
  }
  const ready = Promise.all(places.map(({ member }) => member.ready));
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const acknowledged = new Map<string, string>();
  let [isOpen, orders, longestMs] = [true, 0, 0];

  async function customer(): Promise<void> {
    while (isOpen) {
      const [world, id] = [pick(WORLDS), `${name}-${orders++}`];
      for (const begun = performance.now(); ; ) {
        const said = await pick(places).member.call(world, 'order', id, 3_000);
        if (said !== 'gone' && said.ok) {
          longestMs = Math.max(longestMs, performance.now() - begun);
          acknowledged.set(id, world);
          break;
        }
        const code = said === 'gone' ? said : String(said.said);
        if (!MAY_BE.has(code)) wrong.push(code);
        if (said !== 'gone' && code === 'call_unanswered') unanswered.add(said.reason ?? '');
        await pause(20);
      }
      await pause(15);
    }
  }

  async function restart(place: Place): Promise<void> {
    await place.member.ended;
    place.member = startAt(place);
    await place.member.ready;
  }

  async function inTheMeantime(place: Place, more: { name?: string; secret?: string }): Promise<void> {
    place.member.child.kill('SIGKILL');
    await place.member.ended;
    const stranger = startAt(place, more);
    await stranger.ready;
    const world = pick(WORLDS);
    await stranger.call(world, 'asked', `${name}-stranger-${all.length}`, TTL_MS / 2);
    await pause(TTL_MS / 2);
    stranger.child.kill('SIGKILL');
    await stranger.ended;
    place.member = startAt(place);
    await place.member.ready;
  }

  async function play(move: Move): Promise<void> {
    const place = pick(places);
    const { member, road, network } = place;
    switch (move) {
      case 'killed, and taken for a process of another machine':
        await askDatabase(server.url, 'UPDATE reprise.host SET process = $2 WHERE address LIKE $1', [
          ...[`${new URL(await member.ready).origin}%`, 'elsewhere'],
        ]);
        member.child.kill('SIGKILL');
        return restart(place);
      case 'killed':
        member.child.kill('SIGKILL');
        return restart(place);
      case 'stopped for longer than its lease':
        member.child.kill('SIGSTOP');
        await pause(1.8 * TTL_MS);
        return void member.child.kill('SIGCONT');
      case 'told to end':
        member.child.kill('SIGTERM');
        return restart(place);
      case 'asked to leave': {
        const address = await member.ready;
        const [row] = await askDatabase(
          server.url,
          'SELECT id::text FROM reprise.host WHERE address = $1 AND NOT closed',
          [address],
        );
        await using database = postgres(server.url);
        if (row !== undefined && (await database.drain(String(row.id)))) await restart(place);
        return;
      }
      case 'cut off from the others':
        road.set('cut');
        return;
      case 'stalled':
        road.set('stalls');
        return;
      case 'its bytes are changed':
        road.set('changed');
        return;
      case 'cut off from the database':
        network.set('cut');
        await pause(1.8 * TTL_MS);
        network.set('passes');
        return;
      case 'an old secret':
        return inTheMeantime(place, { secret: 'the secret of last year, long enough' });
      case 'another fleet at its address':
        return inTheMeantime(place, { name: `${name}-other` });
    }
  }

  try {
    await ready;
    const customers = Array.from({ length: CUSTOMERS }, customer);
    for (const move of moves) {
      const before = acknowledged.size;
      await play(move);
      await pause(TTL_MS / 2);
      for (const { road } of places) road.set('passes');
      for (const { road } of places) road.replay();
      await until(() => acknowledged.size > before);
    }
    isOpen = false;
    await Promise.all(customers);
    for (const { member } of places) member.child.kill('SIGTERM');
    await Promise.all(places.map(({ member }) => member.ended));
    const last = start(server.url, {}); // what was under way is finished by a process that nothing happens to
    await last.ready;
    for (const world of WORLDS) await last.call(world, 'asked', `${name}-last`, 30_000);
    await until(() => [...acknowledged.keys()].every((order) => bank.keysOf.has(order)));
    last.child.kill('SIGTERM');
    await last.ended;
  } finally {
    for (const { child } of all) child.kill('SIGKILL');
    for (const { road, network } of places) await Promise.all([road.close(), network.close()]);
    bank.close();
  }
  for (const member of all) told.push(...member.told);
  const taken = await ordersOf(server, name);
  const charged = [...bank.keysOf].filter(([, keys]) => keys.size > 1).map(([order]) => order);
  return {
    acknowledged: acknowledged.size,
    lost: [...acknowledged.keys()].filter((order) => !taken.has(order) || !bank.keysOf.has(order)),
    twice: [...charged, ...[...taken].filter(([, times]) => times > 1).map(([order]) => order)],
    wrong,
    refusals: new Set(
      told.filter((one) => one.startsWith('forward_refused')).map((one) => one.split(' ').slice(1).join(' ')),
    ),
    unanswered,
    longestMs,
  };
}

/** How often each order is in a journal, each of which verifies. */
async function ordersOf(server: TestServer, name: string): Promise<ReadonlyMap<string, number>> {
  await using database = postgres(server.url);
  const taken = new Map<string, number>();
  for (const world of WORLDS) {
    const store = await database.world(`${name}-${world}`).openReadonly();
    await verifyStore(store);
    for await (const { bytes, seq } of store.journal.read(0))
      for (const record of readFrame(bytes, seq).all as readonly JournalRecord[])
        if (record.kind === 'request') {
          const { order } = record.event.value as { readonly order: string };
          taken.set(order, (taken.get(order) ?? 0) + 1);
        }
    await store.close();
  }
  return taken;
}

async function askDatabase(
  url: string,
  sql: string,
  values: readonly string[],
): Promise<readonly Record<string, unknown>[]> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(sql, [...values]);
  await client.end();
  return rows;
}

/** How long a run waits for anything, on a machine that does much else. */
const PATIENCE_MS = 120_000;

async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !condition(); await pause(20))
    if (performance.now() > end) throw new Error('nothing happens any more');
}

/** Numbers from 0, below 1, that a seed repeats (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
