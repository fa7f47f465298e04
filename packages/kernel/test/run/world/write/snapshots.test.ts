import { describe, expect, it } from 'vitest';
import { memory, openKernelWorld, type Store } from '../../../../src/index.js';
import { closeSound, recordsOf } from '../../../support/judge.js';
import { add, ask, lab, numberOf, sendMany, wake } from '../../../support/lab.js';

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
