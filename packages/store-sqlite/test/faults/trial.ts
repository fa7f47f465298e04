/**
 * One world that real processes write until it rests, whatever is done to them; then it is held to what was promised.
 *
 * Invariants checked of every world
 * F1  Every head that a process was told is durable is in the final journal, and so is every acknowledged request, where
 *     it was said to be.
 * F2  The whole journal is replayed by the app and nothing else.
 * F3  What may happen once happened once at most, counted outside; what can be looked up never happened twice.
 * F4  The world rests: every order is there, no effect is open, each has exactly one receipt, and what a receipt says is
 *     what the outside shows.
 * F5  While a process holds the world, running or stopped, nobody else gets it.
 */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Guarantee, JournalRecord } from '@reprise/contracts';
import { readFrame, verifyStore } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { Latch } from '../../../../conformance/scenarios/latch.js';
import { type Child, startChild } from '../crash/child.js';
import type { Bench } from './bench.js';
import { app, linesOf } from './orders.js';
import type { Careless, Job, Strike } from './orders-child.js';
import { committedEnd, type Tear, tear } from './wal.js';

/** How many orders a world is asked for. */
export const ORDERS = 18;

/** How a process is run. */
export interface Run {
  readonly strike?: Strike;
  readonly killAfterMs?: number;
  readonly maxPages?: number;
  /** The largest file that the process may write, in KiB: a limit of the operating system. */
  readonly fileKiB?: number;
  readonly careless?: Careless;
}

/** How a process ended: at rest, dead, or with an error of its own. */
export type Ended = { readonly how: 'rest' | 'killed' | 'failed'; readonly said: string };

/** A process under way. */
export interface Process extends Child {
  /** Resolves just before it stops itself. */
  readonly stopped: Promise<void>;
  readonly ended: Promise<Ended>;
}

/** What a world came to. */
export interface Checked {
  readonly frames: number;
  readonly effects: number;
  /** Effects of which nobody knows whether they happened. */
  readonly unknown: number;
  readonly refused: number;
}

/** What may be chosen about a world. */
export interface TrialOptions {
  /** How its processes ask: how many orders at once. */
  readonly seed?: number;
  /** Where the world is kept; a folder of its own on the bench when absent. */
  readonly folder?: string;
}

/** A world. */
export class Trial {
  readonly db: string;
  readonly ledger: string;
  /** The heads that were said to be durable. */
  readonly heads = new Set<string>();
  /** Where acknowledged orders are said to be. */
  readonly acks = new Map<number, string>();
  refused = 0;
  /** How much of the log was synced when a process last said so. */
  synced = 0;

  constructor(
    private readonly bench: Bench,
    readonly name: string,
    private readonly options: TrialOptions = {},
  ) {
    const place = options.folder ?? path.join(bench.root, name);
    mkdirSync(place, { recursive: true });
    this.db = path.join(place, 'world.db');
    this.ledger = path.join(bench.root, `${name}.ledger`);
    writeFileSync(this.ledger, '');
  }

  get #log(): string {
    return `${this.db}-wal`;
  }

  /** Runs a process to its end, whatever that is. */
  async run(how: Run = {}): Promise<Ended> {
    const process_ = this.start(how);
    const blow =
      how.killAfterMs === undefined ? undefined : setTimeout(() => process_.signal('SIGKILL'), how.killAfterMs);
    const ended = await process_.ended;
    clearTimeout(blow);
    return ended;
  }

  /** Starts a process. */
  start(how: Run = {}): Process {
    this.synced = committedEnd(this.#log); // what the ones before were promised, until this one says more
    const stopped = new Latch();
    let said = '';
    const [command, ...args] = this.#commandOf(how);
    const child = startChild(command, args, (line) => {
      said = this.#hear(line, stopped) ?? said;
    });
    const ended = child.exit.then(({ signal, hung, complaints }): Ended => {
      assert.ok(!hung, `${this.name}: F4: a process did not end`);
      if (signal !== null) return { how: 'killed', said };
      return said.startsWith('rest') ? { how: 'rest', said } : { how: 'failed', said: said || complaints };
    });
    return { ...child, stopped: stopped.opened, ended };
  }

  #commandOf({ strike, maxPages, fileKiB, careless }: Run): [command: string, ...args: string[]] {
    const job: Job = {
      db: this.db,
      ledger: this.ledger,
      orders: ORDERS,
      seed: this.options.seed ?? 0,
      ...(strike !== undefined && { strike }),
      ...(maxPages !== undefined && { maxPages }),
      ...(careless !== undefined && { careless }),
    };
    if (fileKiB === undefined) return [process.execPath, this.bench.program, JSON.stringify(job)];
    // The shell takes the limit and becomes the process, so that signals reach it.
    const limited = ['bash', '-c', 'ulimit -f "$0" && exec "$@"', String(fileKiB)] as const;
    return [...limited, process.execPath, this.bench.program, JSON.stringify(job)];
  }

  /** Notes a line of a process. @returns what it came to, when the line says so */
  #hear(line: string, stopped: Latch): string | undefined {
    const [word, first = '', second = ''] = line.split(' ');
    if (word === 'durable') this.heads.add(second);
    else if (word === 'synced') this.synced = Number(first);
    else if (word === 'ack') this.#acknowledged(Number(first), second);
    else if (word === 'refused') this.refused++;
    else if (word === 'stopped') stopped.open();
    else return line;
    return undefined;
  }

  #acknowledged(order: number, seq: string): void {
    const before = this.acks.get(order);
    assert.ok(before === undefined || before === seq, `${this.name}: F1: order ${order} was moved`);
    this.acks.set(order, seq);
  }

  /** What a loss of power makes of the log behind what was synced. @returns how many bytes nobody had promised */
  tear(how: Tear, random: () => number): number {
    return tear(this.#log, this.synced, how, random);
  }

  /** That nobody gets the world while it is held (F5). */
  async expectLocked(): Promise<void> {
    await assert.rejects(
      sqlite(this.db).open(),
      (error) => (error as { code?: unknown }).code === 'world_locked',
      `${this.name}: F5: a second opener got the world`,
    );
  }

  /** Lets a process come to rest, undisturbed, and holds the world to the invariants. */
  async finish(): Promise<Checked> {
    const ended = await this.run();
    assert.equal(ended.said, 'rest 0', `${this.name}: F4`);
    return this.check();
  }

  /** Holds a world that rests to the invariants. */
  async check(): Promise<Checked> {
    const store = await sqlite(this.db).openReadonly();
    try {
      const report = await verifyStore(store, { app });
      assert.equal(report.replayed, report.frames, `${this.name}: F2`);
      const heads = new Map<string, number>();
      const records: JournalRecord[] = [];
      for await (const stored of store.journal.read(0)) {
        heads.set(stored.head, stored.seq);
        records.push(...readFrame(stored.bytes, stored.seq).all);
      }
      for (const head of this.heads) assert.ok(heads.has(head), `${this.name}: F1: ${head} was durable and is gone`);
      const asked = ordersIn(records);
      for (const [order, seq] of this.acks) {
        assert.equal(asked.get(`order ${order}`), Number(seq), `${this.name}: F1: order ${order} is not where it was`);
      }
      assert.equal(asked.size, ORDERS, `${this.name}: F4: not every order was taken`);
      const effects = this.#checkEffects(records);
      assert.equal(effects.effects, ORDERS, `${this.name}: F4: not every order reached for the outside`);
      return { frames: report.frames, refused: this.refused, ...effects };
    } finally {
      await store.close();
    }
  }

  #checkEffects(records: readonly JournalRecord[]) {
    const lines = linesOf(this.ledger);
    const classes = new Map<string, Guarantee>();
    const settled = new Map<string, string[]>();
    for (const record of records) {
      if (record.kind === 'effect') classes.set(record.effect, record.guarantee);
      if (record.kind === 'receipt')
        settled.set(record.effect, [...(settled.get(record.effect) ?? []), record.receipt.status]);
    }
    let unknown = 0;
    for (const [id, guarantee] of classes) {
      const what = `${this.name}: effect ${id.slice(0, 8)}, ${guarantee}`;
      const [status, ...more] = settled.get(id) ?? [];
      const happened = lines.get(id) ?? 0;
      assert.ok(status !== undefined, `F4: ${what} was never settled`);
      assert.deepEqual(more, [], `F4: ${what} was settled again`);
      if (guarantee !== 'idempotent') assert.ok(happened <= 1, `F3: ${what} happened ${happened} times`);
      if (status === 'ok') assert.ok(happened >= 1, `F4: ${what} is said to have happened`);
      else assert.deepEqual([guarantee, status], ['at_most_once', 'outcome_unknown'], `F4: ${what} ended as ${status}`);
      if (status !== 'ok') unknown++;
    }
    for (const key of lines.keys())
      assert.ok(classes.has(key), `F1: ${this.name}: ${key} happened and is not recorded`);
    return { effects: classes.size, unknown };
  }

  /** Has the outside hold other lines than it does, as after a process that broke its word. */
  forge(lines: (keys: readonly string[]) => readonly string[]): void {
    const forged = lines([...linesOf(this.ledger).keys()]);
    writeFileSync(this.ledger, forged.map((line) => `${line}\n`).join(''));
  }

  /** Takes it away. */
  dispose(): void {
    rmSync(path.dirname(this.db), { recursive: true, force: true });
    rmSync(this.ledger, { force: true });
  }
}

/** Where each order was asked for, by the request's id. */
function ordersIn(records: readonly JournalRecord[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const record of records) if (record.kind === 'request') found.set(record.id, record.seq);
  return found;
}
