import { describe, expect, it } from 'vitest';
import { memory, openKernelWorld, type Store } from '../../../../src/index.js';
import { closeSound, recordsOf } from '../../../support/judge.js';
import { add, ask, fact, lab, numberOf, sendMany, unwake, wake } from '../../../support/lab.js';

const { app } = lab();

/** A store of which each write of content waits for a turn of the event loop, and says that it began. */
function slowContent(inner: Store) {
  const self = {
    /** Called at the beginning of each write of content. */
    onPut: (): void => undefined,
    store: {
      ...inner,
      open: async () => {
        const open = await inner.open();
        const put = async (bytes: Uint8Array) => {
          self.onPut();
          await new Promise((resolve) => setImmediate(resolve));
          return open.content.put(bytes);
        };
        return { ...open, content: { ...open.content, put } };
      },
    } as Store,
  };
  return self;
}

describe('given a snapshot whose map is written slowly', () => {
  it('a snapshot contains exactly the state of its own frame, although requests and timers arrive while it is written [RPL-8, RPL-11]', async () => {
    const slow = slowContent(memory());
    const world = await openKernelWorld({ store: slow.store, app, snapshotEvery: 0 });
    await ask(world, 'x', [sendMany(80, 'to', add(1)), wake('bell', 5)]);
    let asked = 0;
    const answers: Promise<unknown>[] = [];
    slow.onPut = () => {
      if (asked < 40) answers.push(ask(world, `to${asked++}`, [add(10)]));
    };
    await world.snapshot();
    slow.onPut = () => undefined;
    await Promise.all(answers);
    expect(asked).toBe(await recordsOf(slow.store, 'request').then((all) => all.length - 1));
    expect(asked).toBeGreaterThan(2);
    await world.close();

    const again = await openKernelWorld({ store: slow.store, app });
    expect(await numberOf(again, 'to0')).toBe(11);
    await closeSound(again, slow.store, app);
  });
});

describe('given a world that is asked for no snapshots', () => {
  const LARGE = 'x'.repeat(60_000);
  const snapshotsOf = async (store: Store) => (await recordsOf(store, 'snapshot')).length;

  /** Makes requests, each a frame of about this much text. */
  async function write(store: Store, count: number, text: string, options: { snapshotEvery?: number } = {}) {
    await using world = await openKernelWorld({ store, app, recheckEvery: 0, ...options });
    for (let i = 0; i < count; i++) await ask(world, 'x', [fact(text)]);
  }

  it('a world takes a snapshot after a thousand ordinary frames, and after fewer large ones', async () => {
    const [ordinary, large] = [memory(), memory()];
    await write(ordinary, 990, 'x');
    expect(await snapshotsOf(ordinary)).toBe(0);
    await write(ordinary, 10, 'x');
    expect(await snapshotsOf(ordinary)).toBe(1);
    await write(large, 350, LARGE);
    expect(await snapshotsOf(large)).toBe(1);
    const store = await large.openReadonly();
    const { seq } = (await store.journal.findLast('snapshot', 400)) ?? { seq: 0 };
    let bytes = 0;
    for await (const frame of store.journal.read(0, seq)) bytes += frame.bytes.length;
    expect(bytes / 1_000 / 16 / 1_024).toBeGreaterThan(0.9);
    expect(bytes / 1_000 / 16 / 1_024).toBeLessThan(1.3);
  });

  it('a world that is opened again counts the large frames since its last snapshot', async () => {
    const store = memory();
    for (let i = 0; i < 7; i++) await write(store, 50, LARGE);
    expect(await snapshotsOf(store)).toBe(1);
  });

  it('a world in which many cells change waits longer, until the snapshot costs little beside the frames', async () => {
    const store = memory();
    {
      await using world = await openKernelWorld({ store, app, recheckEvery: 0 });
      await ask(world, 'x', [sendMany(200, 'to', add(1))]);
      for (let i = 0; i < 1_500; i++) await ask(world, 'x', [add(1)]);
      expect(await snapshotsOf(store)).toBe(0);
      for (let i = 0; i < 150; i++) await ask(world, 'x', [add(1)]);
    }
    expect(await snapshotsOf(store)).toBe(1);
  });

  it('what comes and goes between two snapshots, as effects and timers do, lets no snapshot wait', async () => {
    const store = memory();
    {
      await using world = await openKernelWorld({ store, app, recheckEvery: 0 });
      for (let i = 0; i < 1_010; i++) await ask(world, 'x', [unwake(`bell${i}`), wake(`bell${i + 1}`, 1_000_000)]);
    }
    expect(await snapshotsOf(store)).toBe(1);
  });

  it('a number of frames between snapshots is a number of frames, however large they are', async () => {
    const store = memory();
    await write(store, 250, LARGE, { snapshotEvery: 300 });
    expect(await snapshotsOf(store)).toBe(0);
  });
});
