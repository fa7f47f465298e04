/** States of the past from a kept replayer, beside those of `worldAt`. */

import type { Address } from '@reprise/contracts';
import { openKernelWorld, type ReadonlyStore, type WorldAt, worldAt } from '@reprise/kernel';
import { KeptPast } from '@reprise/kernel/past';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deep, stepOf } from '../../../conformance/part.js';
import { allPackages } from '../../cli/src/world/built-in.js';
import ledgerApp from '../../cli/test/apps/app.js';
import { makeScene, makeSwarm } from '../../cli/test/operators/scene.js';
import { add, freshFolder, LEDGER } from '../../cli/test/worlds.js';
import { Past } from '../src/past/index.js';
import { cellsIn } from './cells.js';

const folder = freshFolder();
afterAll(() => folder.remove());

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const FRAMES = 50 / stepOf(5);

function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What a state says of the cells: all that the two ways to it can differ in. */
async function seen(then: WorldAt, cells: readonly Address[]): Promise<unknown> {
  const states: unknown[] = [];
  for (const cell of cells) states.push([cell, await then.state(cell)]);
  return {
    head: then.head,
    states,
    trouble: then.trouble(),
    effects: then.openEffects(),
    rights: await then.rights('operator'),
  };
}

async function compare(
  store: ReadonlyStore,
  app: Parameters<typeof worldAt>[1],
  frames: readonly number[],
): Promise<void> {
  const kept = new KeptPast(store, app);
  const cells = await cellsIn(store);
  for (const frame of frames)
    expect({ frame, seen: await seen(await kept.at(frame), cells) }).toEqual({
      frame,
      seen: await seen(await worldAt(store, app, frame), cells),
    });
}

describe('the kept past of a world', () => {
  let ledger: string;
  beforeAll(async () => {
    ledger = folder.file('ledger.db');
    await using world = await openKernelWorld({ store: sqlite(ledger), app: ledgerApp, snapshotEvery: 700 });
    for (let n = 0; n < 2_000; n++) await add(world, 1);
  });

  deep('past: random frames', () => {
    it(`${FRAMES} random frames of a long world, and steps back and forth, are those of worldAt, seed ${SEED}`, async () => {
      const store = await sqlite(ledger).openReadonly();
      try {
        const { seq } = await store.journal.head();
        const roll = dice(SEED);
        const frames = Array.from({ length: FRAMES }, () => roll(seq + 1));
        await compare(store, ledgerApp, [...frames, seq, seq - 1, seq - 2, 257, 256, 255, 256, 512, 0, 1]);
      } finally {
        await store.close();
      }
    });
  });

  deep('past: from the last one back', () => {
    it.each([
      ['a conversation, a tree and a team', makeScene],
      ['a swarm', makeSwarm],
    ] as const)('the frames of a world with %s are those of worldAt, from the last one back', async (name, make) => {
      const file = folder.file(`${name}.db`);
      await make(file);
      const store = await sqlite(file).openReadonly();
      try {
        const { seq } = await store.journal.head();
        const { app } = await allPackages();
        await compare(
          store,
          app,
          // `worldAt` replays from the beginning: every frame would take the square of their number.
          Array.from({ length: seq + 1 }, (_, i) => seq - i).filter(
            (frame) => frame > seq - 4 || frame % (7 * stepOf(3)) === SEED % 7,
          ),
        );
      } finally {
        await store.close();
      }
    });
  });

  deep('past: beside', () => {
    it('a frame beside a known one is reached by replaying at most 256 frames', async () => {
      const store = await sqlite(ledger).openReadonly();
      try {
        let read = 0;
        const counted: ReadonlyStore = {
          ...store,
          journal: {
            head: () => store.journal.head(),
            findKey: (key) => store.journal.findKey(key),
            findLast: (kind, seq) => store.journal.findLast(kind, seq),
            async *read(from, to) {
              for await (const frame of store.journal.read(from, to)) {
                read++;
                yield frame;
              }
            },
          },
        };
        const kept = new KeptPast(counted, ledgerApp);
        const { seq } = await store.journal.head();
        await kept.at(seq);
        for (let frame = seq - 1; frame > seq - 400; frame -= 7) {
          read = 0;
          await kept.at(frame);
          expect(read).toBeLessThanOrEqual(2 * 256);
        }
      } finally {
        await store.close();
      }
    });
  });

  it('a reader that takes its time keeps its frame, while another one asks for a later one [SRV-28]', async () => {
    const store = await sqlite(ledger).openReadonly();
    try {
      const past = new Past(store, async () => ({ app: ledgerApp }));
      const signal = new AbortController().signal;
      const total = async (then: WorldAt) => ((await then.state(LEDGER)) as { readonly total: number }).total;
      let goOn = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      let begun = false;
      const slowly = past.read(400, signal, async (then) => {
        begun = true;
        await held;
        return total(then);
      });
      await expect.poll(() => begun).toBe(true);
      setTimeout(goOn, 100);
      const quickly = past.read(500, signal, total);
      const alone = async (frame: number) => total(await worldAt(store, ledgerApp, frame));
      expect([await slowly, await quickly]).toEqual([await alone(400), await alone(500)]);
      expect(await slowly).not.toBe(await quickly);
    } finally {
      await store.close();
    }
  });

  it('a question that is aborted on the way leaves the next ones whole', async () => {
    const store = await sqlite(ledger).openReadonly();
    try {
      const kept = new KeptPast(store, ledgerApp);
      const cells = await cellsIn(store);
      await expect(kept.at(900, AbortSignal.abort())).rejects.toThrow();
      expect(await seen(await kept.at(900), cells)).toEqual(await seen(await worldAt(store, ledgerApp, 900), cells));
    } finally {
      await store.close();
    }
  });
});
