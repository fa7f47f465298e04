/**
 * A process that asks for orders, one after another and several at once, until it has asked for all or dies. Argument:
 * a {@link Job} as JSON. Lines on standard output, each written before anything else happens:
 *
 * `synced <bytes of the log>` after each write; `durable <seq> <head>` after each append; `ack <order> <seq>` when a
 * request is acknowledged; `refused <order> <code>`; `stopped` before it suspends itself; in the end `rest <open effects>`
 * or `failed <code> <message>`.
 */
import { writeSync } from 'node:fs';
import { isRepriseError, openKernelWorld, type Store, type World } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { app, ledgerAdapter } from './orders.js';
import { committedEnd } from './wal.js';

/** At what a process strikes itself, and at which one of these since it began. */
export interface Strike {
  /** An append landed, and nobody was told; a request was acknowledged; the outside did something and has not answered. */
  readonly at: 'append' | 'ack' | 'effect';
  readonly count: number;
  readonly blow: 'SIGKILL' | 'SIGSTOP';
}

/** A way in which the process breaks its word: what the harness must see. */
export type Careless = 'acknowledges before it appends' | 'syncs once';

/** What the process is to do. */
export interface Job {
  readonly db: string;
  readonly ledger: string;
  readonly orders: number;
  /** Chance: how many at once, and how large their notes are. */
  readonly seed: number;
  readonly strike?: Strike;
  readonly maxPages?: number;
  readonly careless?: Careless;
}

const job = JSON.parse(process.argv[2] ?? '{}') as Job;
const counts = { append: 0, ack: 0, effect: 0 };
const CLASSES = ['at_most_once', 'idempotent', 'reconcile'] as const;

/** Notes below and above the size from which content is a file of its own. */
const NOTE_BYTES = [40, 3_000, 70_000];

try {
  const world = await openKernelWorld({
    store: told(sqlite(job.db, job.maxPages === undefined ? {} : { maxPageCount: job.maxPages })),
    app,
    adapters: [ledgerAdapter(job.ledger, () => strike('effect'))],
    snapshotEvery: 25,
  });
  await askAll(world);
  await world.pump();
  const open = (await world.openEffects()).length;
  await world.close();
  say(`rest ${open}`);
} catch (error) {
  say(`failed ${isRepriseError(error) ? error.code : 'unknown'} ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** One more of these has happened. */
function strike(at: Strike['at']): void {
  counts[at]++;
  if (job.strike?.at !== at || job.strike.count !== counts[at]) return;
  if (job.strike.blow === 'SIGSTOP') say('stopped');
  process.kill(process.pid, job.strike.blow);
}

async function askAll(world: World): Promise<void> {
  const atOnce = 1 + (job.seed % 4);
  for (let n = 0; n < job.orders; n += atOnce) {
    const group = Array.from({ length: Math.min(atOnce, job.orders - n) }, (_, i) => askFor(world, n + i));
    await Promise.all(group);
  }
}

/** Asks for an order, under its own id: a process that comes later asks for the same. */
async function askFor(world: World, n: number): Promise<void> {
  const size = NOTE_BYTES[n % NOTE_BYTES.length] as number;
  const note = await world.content.put(new TextEncoder().encode(`order ${n} `.repeat(size / 10)));
  const value = { guarantee: CLASSES[n % CLASSES.length], note };
  try {
    const { seq } = await world.request(
      ['faults/Order@1', `o${n}`],
      { name: 'faults/Ordered@1', value },
      { id: `order ${n}` },
    );
    say(`ack ${n} ${seq}`);
    strike('ack');
  } catch (error) {
    if (!isRepriseError(error, 'commit_failed')) throw error;
    say(`refused ${n} ${error.code}`);
  }
}

/** A store that tells what is durable, and how much of its log is synced: after every write of its own. */
function told(store: Store): Store {
  let writes = 0;
  let synced = 0;
  const saySynced = (): void => {
    if (job.careless !== 'syncs once' || writes++ === 0) synced = committedEnd(`${job.db}-wal`);
    say(`synced ${synced}`);
  };
  return {
    ...store,
    open: async () => {
      const open = await store.open();
      saySynced();
      const { journal } = open;
      const append: typeof journal.append = async (frames, expected) => {
        const head = await journal.append(frames, expected);
        strike('append');
        saySynced();
        say(`durable ${head.seq} ${head.digest}`);
        return head;
      };
      const mark: typeof open.mark = async (note) => {
        await open.mark(note);
        saySynced();
      };
      const early = job.careless === 'acknowledges before it appends';
      return { ...open, mark, journal: { ...journal, append: early ? promising(journal.append) : append } };
    },
  };
}

/** An append that says it has been done, and is done a little later. */
function promising(append: Awaited<ReturnType<Store['open']>>['journal']['append']): typeof append {
  let before: Promise<unknown> = Promise.resolve();
  return async (frames, expected) => {
    const last = frames.at(-1);
    before = before.then(() => new Promise((resolve) => setTimeout(resolve, 20))).then(() => append(frames, expected));
    const head = last === undefined ? expected : { seq: last.seq, digest: last.head };
    say(`durable ${head.seq} ${head.digest}`);
    return head;
  };
}
