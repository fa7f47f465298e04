/** Trials of two real processes that want one world, one of which meets trouble: what was acknowledged, and what was done. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { JournalRecord } from '@reprise/contracts';
import { readFrame, verifyStore } from '@reprise/kernel';
import pg from 'pg';
import { postgres } from '../../src/index.js';
import { openNetwork } from '../proxy.js';
import type { TestServer } from '../server.js';

/** What happens to the owner, or to its way to the database. */
export const TROUBLES = [
  'it is killed',
  'it is stopped for longer than its lease',
  'its network stalls for longer than its lease',
  'its network is cut',
  'its answers are lost',
  'the database crashes',
] as const;
export type Trouble = (typeof TROUBLES)[number];

/** The lease of the processes, in milliseconds. */
const TTL_MS = 2_000;

/** What a trial found. */
export interface Verdict {
  /** Requests that were acknowledged. */
  readonly acknowledged: number;
  /** Acknowledged requests that are not in the journal. */
  readonly lost: readonly string[];
  /** Orders that were paid more than once. */
  readonly twice: readonly string[];
  /** Requests that stand in the journal more than once. */
  readonly repeated: readonly string[];
  /** The processes that owned the world, in order. */
  readonly owners: readonly string[];
  readonly frames: number;
  /** What the processes said beside their answers. */
  readonly errors: readonly string[];
}

/** Runs one trial. @param afterMs when the trouble comes, from the first acknowledgement */
export async function runTrial(
  server: TestServer,
  program: string,
  world: string,
  { trouble, afterMs }: { readonly trouble: Trouble; readonly afterMs: number },
): Promise<Verdict> {
  const outside = await outsideOf(server, world);
  const network = await openNetwork(server.port);
  const heard: Heard = { acks: [], owners: [], errors: [] };
  const start = (name: string, port: number): ChildProcess => {
    const url = server.url.replace(`:${server.port}/`, `:${port}/`);
    return begin(program, [name, url, outside, world, String(TTL_MS)], name, heard);
  };
  const a = start('a', network.port);
  const children = [a];
  try {
    await until(() => heard.acks.length > 0, heard);
    children.push(start('b', server.port));
    await pause(afterMs);
    await meet(trouble, { owner: a, network, server });
    const before = heard.acks.length;
    await until(() => heard.acks.length >= before + 20, heard);
    await pause(TTL_MS); // the one that was stopped learns what it has missed
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await network.close();
  }
  return judge(server, world, outside, heard);
}

interface Heard {
  readonly acks: string[];
  readonly owners: string[];
  readonly errors: string[];
}

function begin(program: string, args: readonly string[], name: string, heard: Heard): ChildProcess {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr?.on('data', (bytes: Buffer) => heard.errors.push(`${name}: ${bytes.toString().trim()}`));
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const [what, order = ''] = line.split(' ');
    if (what === 'ack') heard.acks.push(order);
    else if (what === 'open') heard.owners.push(name);
    else heard.errors.push(`${name}: ${order}`);
  });
  return child;
}

async function meet(
  trouble: Trouble,
  {
    owner,
    network,
    server,
  }: { owner: ChildProcess; network: Awaited<ReturnType<typeof openNetwork>>; server: TestServer },
): Promise<void> {
  switch (trouble) {
    case 'it is killed':
      owner.kill('SIGKILL');
      return;
    case 'it is stopped for longer than its lease':
      owner.kill('SIGSTOP');
      await pause(TTL_MS * 2);
      owner.kill('SIGCONT');
      return;
    case 'its network stalls for longer than its lease':
      network.set('stalls');
      await pause(TTL_MS * 2);
      network.set('passes');
      return;
    case 'its network is cut':
      network.set('cut');
      await pause(TTL_MS * 2);
      network.set('passes');
      return;
    case 'its answers are lost':
      network.loseAnswers();
      await pause(TTL_MS * 2);
      network.set('passes');
      return;
    case 'the database crashes':
      await server.crashAndRestart();
  }
}

async function judge(server: TestServer, world: string, outside: string, heard: Heard): Promise<Verdict> {
  const client = new pg.Client({ connectionString: outside });
  await client.connect();
  const calls = await client.query<{ order_id: string }>(
    'SELECT order_id FROM call GROUP BY order_id HAVING count(*) > 1',
  );
  await client.end();
  await using database = postgres(server.url);
  const store = await database.world(world).openReadonly();
  const seen = new Map<string, number>();
  let frames = 0;
  try {
    await verifyStore(store);
    for await (const { bytes, seq } of store.journal.read(0)) {
      frames++;
      for (const record of readFrame(bytes, seq).all as readonly JournalRecord[])
        if (record.kind === 'request') seen.set(record.id, (seen.get(record.id) ?? 0) + 1);
    }
  } finally {
    await store.close();
  }
  return {
    acknowledged: heard.acks.length,
    lost: heard.acks.filter((order) => !seen.has(order)),
    twice: calls.rows.map(({ order_id: order }) => order),
    repeated: [...seen].filter(([, times]) => times > 1).map(([order]) => order),
    owners: heard.owners,
    frames,
    errors: heard.errors,
  };
}

/** A database for what was done outside, which no trouble reaches. */
async function outsideOf(server: TestServer, world: string): Promise<string> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE "outside ${world}"`);
  await client.end();
  const url = server.url.replace(/postgres$/, encodeURIComponent(`outside ${world}`));
  const made = new pg.Client({ connectionString: url });
  await made.connect();
  await made.query('CREATE TABLE call (order_id text, attempt int, epoch bigint, who text)');
  await made.end();
  return url;
}

/** How long a trial waits for anything, on a machine that does much else. */
const PATIENCE_MS = 120_000;

async function until(condition: () => boolean, heard: Heard): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > end)
      throw new Error(
        `nothing happens any more: ${heard.acks.length} answers, ${JSON.stringify(heard.errors.slice(-10))}`,
      );
    await pause(20);
  }
}
