/**
 * A world that stays open and worlds that are opened again and again are one world: the same frames, the same refusals,
 * the same states. What an open world keeps (states that were checked, leaves, sizes) may only save time.
 */
import assert from 'node:assert/strict';
import { isRepriseError, type JournalRecord } from '@reprise/contracts';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import fc from 'fast-check';
import { type App, memory, openKernelWorld, type Store, verifyStore, type World } from '../../src/index.js';
import { readFrame } from '../../src/ports/journal/frame.js';
import { nativeHash } from '../support/laws/run-schedule.js';
import { type Asked, anyRequests, CELLS, CHANGED, firstApp, nextApp } from './keeping-app.js';

/** Of so many requests, one comes after a snapshot, and one after the world was closed and opened again; 0 for none. */
interface Habit {
  readonly snapshots: number;
  readonly restarts: number;
}

/** The first keeps all that it ever knew; the others forget, each in another way. */
const HABITS: readonly Habit[] = [
  { snapshots: 0, restarts: 0 },
  { snapshots: 0, restarts: 1 },
  { snapshots: 1, restarts: 1 },
  { snapshots: 3, restarts: 0 },
  { snapshots: 3, restarts: 2 },
];

class Owner {
  readonly store: Store = memory({ hash: nativeHash });
  readonly #clock = new VirtualClock();
  readonly #random = seededRandom('kept');
  #world: World | undefined;
  #apps: readonly App[] = [];

  #asked = 0;

  constructor(private readonly habit: Habit) {}

  /** Opens the world, by another app when one is given. */
  async open(app?: App): Promise<World> {
    if (app !== undefined) this.#apps = [app, ...this.#apps];
    await this.#world?.close();
    const [current, ...legacy] = this.#apps as [App, ...App[]];
    this.#world = await openKernelWorld({
      store: this.store,
      app: current,
      legacy,
      clock: this.#clock,
      random: this.#random,
      recheckEvery: 0,
      snapshotEvery: 0,
    });
    return this.#world;
  }

  /** What a request comes to: the number of its frame, or the code of its refusal. */
  async ask({ cell, changes, letters }: Asked, id: string): Promise<string> {
    const isTurn = (every: number) => every > 0 && this.#asked % every === 0;
    this.#asked++;
    if (isTurn(this.habit.snapshots)) await this.#world?.snapshot();
    const world = isTurn(this.habit.restarts) ? await this.open() : (this.#world as World);
    const value = { changes: changes as never, letters };
    return orCode(async () => {
      await world.request(CELLS[cell], { name: CHANGED, value }, { id });
      return 'done';
    });
  }

  /** The states as readers see them. */
  async states(): Promise<unknown[]> {
    return Promise.all(CELLS.map((cell) => orCode(async () => (this.#world as World).state(cell))));
  }

  /** The records that requests led to, without what only says where in the journal they stand. */
  async requests(): Promise<unknown[]> {
    const requests: unknown[] = [];
    const open = await this.store.openReadonly();
    for await (const { seq, bytes } of open.journal.read(0)) {
      const records = readFrame(bytes, seq).all as readonly JournalRecord[];
      if (records[0]?.kind === 'request') requests.push(records.map(unplaced));
    }
    await open.close();
    return requests;
  }

  /** Ends with a snapshot, whose map a verification computes again. */
  async close(): Promise<void> {
    await this.#world?.snapshot();
    await this.#world?.close();
    const { unverified } = await verifyStore(await this.store.openReadonly(), {
      app: this.#apps[0] as App,
      legacy: this.#apps.slice(1),
    });
    assert.equal(unverified, 0);
  }
}

/** What something comes to, or the code of its refusal. */
async function orCode<T>(asked: () => Promise<T>): Promise<T | string> {
  try {
    return await asked();
  } catch (error) {
    if (isRepriseError(error)) return `${error.code} ${String(error.details.fault ?? '')}`.trim();
    throw error;
  }
}

function unplaced(record: JournalRecord): unknown {
  const { seq: _seq, ...rest } = record as { readonly seq?: number };
  return rest;
}

/** What the law met. */
export interface Met {
  readonly outcomes: Map<string, number>;
}

/** Holds the law for random requests. In the middle the app is replaced by its next version. */
export function restartLaw(met: Met): fc.IAsyncProperty<[readonly Asked[], number]> {
  return fc.asyncProperty(anyRequests, fc.nat({ max: 13 }), async (asked, turn) => {
    const owners = HABITS.map((habit) => new Owner(habit));
    for (const owner of owners) await owner.open(firstApp());
    for (const [i, one] of asked.entries()) {
      if (i === turn) for (const owner of owners) await owner.open(nextApp());
      const [kept, ...others] = await outcomesOf(owners, one, `m${i}`);
      for (const other of others) assert.equal(other, kept, `request ${i}`);
      met.outcomes.set(kept as string, (met.outcomes.get(kept as string) ?? 0) + 1);
    }
    const [keeping, ...restarting] = owners as [Owner, ...Owner[]];
    for (const owner of restarting) {
      assert.deepEqual(await owner.states(), await keeping.states());
      assert.deepEqual(await owner.requests(), await keeping.requests());
    }
    for (const owner of owners) await owner.close();
  });
}

async function outcomesOf(owners: readonly Owner[], asked: Asked, id: string): Promise<string[]> {
  const outcomes: string[] = [];
  for (const owner of owners) outcomes.push(await owner.ask(asked, id));
  return outcomes;
}
