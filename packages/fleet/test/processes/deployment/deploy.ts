/**
 * A rolling deployment of three processes, under load: a new process of the second release, then one of the first release
 * leaves, three times. Customers make each call again, with its id and at any process, until it is answered.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { JournalRecord } from '@reprise/contracts';
import { readFrame, verifyStore } from '@reprise/kernel';
import { postgres } from '@reprise/store-postgres';
import pg from 'pg';
import type { TestServer } from '../../../../store-postgres/test/server.js';
import { Member, openBank, type ToMember } from '../members.js';
import { APPS, IDLE_MS, type Release } from './releases.js';

const TTL_MS = 3_000;
const SECRET = 'the secret of the fleet that is deployed';

/** Worlds that are called without a pause, by several customers. */
const BUSY = ['antwerp', 'bergen', 'cork'];
/** Worlds that are called now and then, and closed between: they are open at one process, then at another. */
const QUIET = ['delft', 'essen', 'faro', 'gent'];
/** Worlds that wait: for a person, for a time, for the bank. */
const [PERSON, BELL, SLOW] = ['hull', 'izmir', 'jena'];
/** Worlds that an old process is asked for after a new one: the new one has written one of them, and only read the other. */
const [WRITTEN, READ] = ['kiel', 'lima'];
const WORLDS = [...BUSY, ...QUIET, PERSON, BELL, SLOW, WRITTEN, READ];

/** The times of the timers, from the beginning of the load: some of them fall into the deployment. */
const BELLS_MS = [1_500, 2_500, 3_500, 4_500];

/** Errors that a caller may see: each says to make the call again. */
const MAY_BE: ReadonlySet<string> = new Set(['call_unanswered', 'host_closed', 'gone']);

/** What a deployment did to calls and waits. */
export interface Deployment {
  readonly acknowledged: number;
  /** What was acknowledged and is in no journal, or was not done outside. */
  readonly lost: readonly string[];
  /** What is in a journal more than once, or was done outside under more than one key. */
  readonly twice: readonly string[];
  /** What callers saw that does not say to call again. */
  readonly wrong: readonly string[];
  /** Waits that were open before the deployment, and how they ended: each once. */
  readonly waits: readonly string[];
  /** How many frames no app replays. */
  readonly unverified: number;
  /** The eras of each world. */
  readonly eras: Readonly<Record<string, number>>;
  /** Refusals to open a world, by code, as `onError` was told. */
  readonly refused: Readonly<Record<string, number>>;
  readonly unanswered: readonly string[];
  readonly longestMs: number;
  readonly bellsLateMs: number;
  readonly tookMs: number;
}

interface Plan {
  readonly server: TestServer;
  readonly program: string;
  readonly name: string;
  readonly random: () => number;
}

/** Deploys the second release over the first one. */
export async function deploy({ server, program, name, random }: Plan): Promise<Deployment> {
  let answerSlow: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => {
    answerSlow = resolve;
  });
  const bank = await openBank((order) => (order.includes(`${name}-slow`) ? slow : Promise.resolve()));
  const [all, wrong, unanswered]: [Member[], string[], Set<string>] = [[], [], new Set()];
  const start = (release: Release): Member => {
    const member = new Member({
      ...{ program, database: server.url, name, secret: SECRET, bank: bank.url, ttl: TTL_MS, release },
    });
    all.push(member);
    return member;
  };
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const acknowledged = new Map<string, string>();
  const serving: Member[] = [];
  let [isOpen, orders, longestMs] = [true, 0, 0];

  /** Makes a call until it is answered, at any process that takes calls, or first at the one that is given. */
  async function ask(world: string, what: ToMember['what'], id: string, first?: Member): Promise<string> {
    const begun = performance.now();
    for (let tries = 0; ; tries++) {
      const member = tries === 0 && first !== undefined ? first : pick(serving);
      const said = await member.call(world, what, id, 8_000);
      if (said !== 'gone' && said.ok) {
        longestMs = Math.max(longestMs, performance.now() - begun);
        return String(said.said);
      }
      const code = said === 'gone' ? said : String(said.said);
      if (!MAY_BE.has(code)) wrong.push(code);
      if (said !== 'gone' && code === 'call_unanswered') unanswered.add(said.reason ?? '');
      if (performance.now() - begun > PATIENCE_MS) throw new Error(`${what} of ${world}: ${code}`);
      await pause(20);
    }
  }

  async function take(world: string, what: ToMember['what'], id: string, first?: Member): Promise<void> {
    await ask(world, what, id, first);
    acknowledged.set(id, world);
  }

  async function customer(worlds: readonly string[], everyMs: number): Promise<void> {
    while (isOpen) {
      await take(pick(worlds), 'order', `${name}-${orders++}`);
      await pause(everyMs * (0.5 + random()));
    }
  }

  async function isOpenSomewhere(world: string): Promise<boolean> {
    const sql = `SELECT FROM reprise.directory_row r JOIN reprise.directory d ON d.id = r.directory
      WHERE d.name = $1 AND r.world = $2 AND r.open`;
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    const { rowCount } = await client.query(sql, [Buffer.from(name), Buffer.from(world)]);
    await client.end();
    return (rowCount ?? 0) > 0;
  }

  /** A world goes to a new process, which closes it, and then an old one is asked for it. */
  async function visit(world: string, what: 'order' | 'asked', next: Member, old: Member | undefined): Promise<void> {
    const told = old?.told.length ?? 0;
    await until(async () => {
      await pause(2 * IDLE_MS);
      return (await ask(world, 'asked', `${name}-asked-${orders++}`, next)) === String(next.child.pid);
    });
    if (what === 'order') await take(world, 'order', `${name}-${orders++}`, next);
    // An old process that finds it open at the new one remembers that, and sends all further calls there.
    await until(async () => !(await isOpenSomewhere(world)));
    await until(async () => {
      await pause(2 * IDLE_MS);
      const pid = await ask(world, 'asked', `${name}-asked-${orders++}`, old);
      const isOld = pid === String(old?.child.pid);
      if (what === 'order' && isOld) wrong.push('an old process has a world that a new one has written');
      return what === 'order' ? (old?.told.length ?? 0) > told : isOld;
    });
  }

  const state = async (world: string): Promise<Shop> =>
    JSON.parse(await ask(world, 'look', `${name}-look-${orders++}`));
  let [tookMs, bellsLateMs] = [0, 0];
  try {
    serving.push(...[1, 2, 3].map(() => start('first')));
    const olds = [...serving];
    await Promise.all(olds.map(({ ready }) => ready));
    await take(PERSON, 'person', `${name}-person`);
    for (const ms of BELLS_MS) await take(BELL, 'bell', `${name}-bell-${ms}`);
    await take(SLOW, 'order', `${name}-slow`, olds[0]);
    for (const world of [WRITTEN, READ]) await take(world, 'order', `${name}-${orders++}`);
    const customers = [
      ...BUSY.map(() => customer(BUSY, 20)),
      ...QUIET.map((world) => customer([world], 250)), // longer than a world stays open
    ];
    await until(() => acknowledged.size > 60);
    const begun = performance.now();
    for (const old of olds) {
      const next = start('second');
      await next.ready;
      serving.push(next);
      const before = acknowledged.size;
      await until(() => acknowledged.size > before + 25);
      serving.splice(serving.indexOf(old), 1);
      old.child.kill('SIGTERM');
      if (old === olds[0]) {
        const told = acknowledged.size;
        await until(() => acknowledged.size > told + 10);
        answerSlow(); // its process was told to leave, and waits for it
      }
      await old.ended;
      if (old === olds[0]) {
        await visit(WRITTEN, 'order', next, olds[1]);
        await visit(READ, 'asked', next, olds[1]);
      }
    }
    tookMs = performance.now() - begun;
    const settled = await ask(PERSON, 'answer', `${name}-answer`);
    if (settled !== '1') wrong.push(`${settled} effects waited for the person`);
    isOpen = false;
    await Promise.all(customers);
    await until(async () => (await state(BELL)).rung.length >= BELLS_MS.length);
    for (const world of WORLDS) await until(async () => isAllPaid(await state(world)));
    await until(async () => (await state(PERSON)).decided.length > 0);
    const waits = [...(await state(PERSON)).decided, ...(await state(BELL)).rung, ...(await state(SLOW)).paid];
    for (const { child } of serving) child.kill('SIGTERM');
    await Promise.all(serving.map(({ ended }) => ended));
    const found = await read(server, name);
    bellsLateMs = found.bellsLateMs;
    const paid = (id: string): boolean => id.includes('bell') || bank.keysOf.has(`pay ${id}`);
    const charged = [...bank.keysOf].filter(([, keys]) => keys.size > 1).map(([order]) => order);
    const refused: Record<string, number> = {};
    for (const one of all.flatMap(({ told }) => told)) refused[one] = (refused[one] ?? 0) + 1;
    return {
      acknowledged: acknowledged.size,
      lost: [...acknowledged.keys()].filter((id) => !found.taken.has(id) || !paid(id)),
      twice: [...charged, ...[...found.taken].filter(([, times]) => times > 1).map(([id]) => id)],
      wrong,
      waits: waits.map((one) => one.replace(`${name}-`, '')),
      unverified: found.unverified,
      eras: found.eras,
      refused,
      unanswered: [...unanswered],
      longestMs,
      bellsLateMs,
      tookMs,
    };
  } finally {
    answerSlow();
    for (const { child } of all) child.kill('SIGKILL');
    bank.close();
  }
}

/** A shop as the second release has it. */
interface Shop {
  readonly orders: readonly { readonly order: string; readonly release: number }[];
  readonly paid: readonly string[];
  readonly decided: readonly string[];
  readonly rung: readonly string[];
}

function isAllPaid({ orders, paid }: Shop): boolean {
  return orders.every(({ order }) => paid.includes(order));
}

/** What the journals say, each of which verifies with the apps of both releases. */
async function read(server: TestServer, name: string) {
  await using database = postgres(server.url);
  const taken = new Map<string, number>();
  const eras: Record<string, number> = {};
  let [unverified, bellsLateMs] = [0, 0];
  for (const world of WORLDS) {
    const store = await database.world(`${name}-${world}`).openReadonly();
    const report = await verifyStore(store, { app: APPS.second, legacy: [APPS.first] });
    unverified += report.unverified;
    eras[world] = report.eras.length;
    for await (const { bytes, seq } of store.journal.read(0)) {
      const frame = readFrame(bytes, seq);
      for (const record of frame.all as readonly JournalRecord[]) {
        if (record.kind === 'timer') bellsLateMs = Math.max(bellsLateMs, record.at - record.due);
        if (record.kind !== 'request') continue;
        const { order } = record.event.value as { readonly order: string };
        taken.set(order, (taken.get(order) ?? 0) + 1);
      }
    }
    await store.close();
  }
  return { taken, unverified, eras, bellsLateMs };
}

/** How long a run waits for anything, on a machine that does much else. */
const PATIENCE_MS = 60_000;

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await condition()); await pause(20))
    if (performance.now() > end) throw new Error('nothing happens any more');
}
