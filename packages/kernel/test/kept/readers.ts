/** A reader that follows a world while its rights change: each frame is shown by the rights of its moment. */
import assert from 'node:assert/strict';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import { memory, openKernelWorld, type World } from '../../src/index.js';
import { CELLS, CHANGED, firstApp } from './keeping-app.js';

const WHO = 'human:ann';
const EXPIRES_MS = 60_000;

/** Holds what a follower is shown to the rights that it has. @throws Error when it is shown more, or less */
export async function holdReaders(): Promise<void> {
  const clock = new VirtualClock();
  const [store, random] = [memory(), seededRandom('readers')];
  await using world = await openKernelWorld({ store, app: firstApp(), clock, random, policy: POLICY });
  const reader = new Reader(world);
  const [cell] = CELLS;
  const ask = async () => {
    const value = { changes: [{ do: 'append', n: 1 }], letters: '' } as never;
    const { seq } = await world.request(cell, { name: CHANGED, value });
    return reader.sees(seq, clock);
  };
  const rights = (may: Record<string, string[]>, expires?: number) =>
    world.command('sys/SetRights@1', {
      holder: WHO,
      exercise: { may, ...(expires === undefined ? {} : { expires_at: expires }) },
    });
  await rights({ read: [cell.join('/')] });
  assert.equal(await ask(), true, 'it may read the cell');
  await rights({ read: [] });
  assert.equal(await ask(), false, 'its right was taken back');
  await rights({ read: [cell.join('/')] }, clock.wall() + EXPIRES_MS);
  assert.equal(await ask(), true, 'it may read the cell for a minute');
  await clock.advance(2 * EXPIRES_MS);
  assert.equal(await ask(), false, 'the minute is over');
  await reader.leave();
}

const POLICY = [
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
] as const;

class Reader {
  readonly #shown = new Set<number>();
  readonly #leave = new AbortController();
  readonly #reading: Promise<void>;

  constructor(world: World) {
    this.#reading = this.#read(world);
  }

  /** Whether a frame's request is shown, once the reader has had the time to see it. */
  async sees(seq: number, clock: VirtualClock): Promise<boolean> {
    for (let i = 0; i < 10; i++) await clock.settle();
    return this.#shown.has(seq);
  }

  async leave(): Promise<void> {
    this.#leave.abort();
    await this.#reading;
  }

  async #read(world: World): Promise<void> {
    for await (const { seq, records } of world.as(WHO).frames(0, this.#leave.signal)) {
      if (records[0] !== null) this.#shown.add(seq);
    }
  }
}
