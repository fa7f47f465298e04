import { describe, expect, it } from 'vitest';
import { openWorld, type Store } from '../../src/index.js';
import { crashable } from '../support/crashable-store.js';
import { closeSound, expectSound, recordsOf, until } from '../support/judge.js';
import { add, ask, lab, numberOf, once, seen, start, tellCell, wake, when } from '../support/lab.js';
import { ok, outside } from '../support/outside.js';
import { TestClock } from '../support/test-clock.js';

const { app } = lab({
  *call(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'call', receipt.status);
  },
});

/** A disk whose holder dies as soon as it notes a fact: as if folding that fact took all the memory there is. */
function deadly() {
  const disk = crashable();
  const noted: (string | null)[] = [];
  const self = {
    disk,
    noted,
    dying: false,
    store: undefined as unknown as Store,
    /** Opens the world in a process that dies as soon as it notes a fact. */
    async die(options: { clock?: TestClock } = {}) {
      const before = noted.length;
      self.dying = true;
      void openWorld({ store: self.store, app, ...options });
      await until(() => noted.length > before, 'the note');
      self.dying = false;
    },
  };
  self.store = {
    ...disk,
    open: async () => {
      const open = await disk.open();
      return {
        ...open,
        mark: async (note) => {
          await open.mark(note);
          noted.push(note);
          if (!self.dying || note === null) return;
          await disk.crash();
          await new Promise(() => undefined);
        },
      };
    },
  };
  return self;
}

describe('given a fact that takes the whole process down when it is folded', () => {
  it('when it is a timer, then the third death is the last: it is quarantined and the world goes on [REC-4]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const first = await openWorld({ store: place.store, app, clock });
    await ask(first, 'x', [add(1), wake('bell', 10), when('bell', add(1))]);
    await place.disk.crash(); // the first death, with nothing noted: the last close was clean
    clock.advance(20);
    await place.die({ clock });
    await place.die({ clock });
    const third = await openWorld({ store: place.store, app, clock });
    await third.pump();
    expect((await recordsOf(place.store, 'timer')).map(({ quarantined }) => quarantined)).toEqual([true]);
    expect([await numberOf(third, 'x'), await seen(third, 'x')]).toEqual([1, []]);
    await ask(third, 'x', [add(1)]);
    expect(place.noted.at(-1)).toBeNull();
    await closeSound(third, place.store, app);
  });

  it('when it is a receipt, then its effect is settled and its plan ended', async () => {
    const place = deadly();
    const first = outside(once);
    const world = await openWorld({ store: place.store, app, adapters: [first] });
    await ask(world, 'x', [start('call', 1)]);
    await first.call(0);
    await place.disk.crash();
    await place.die();
    await place.die();
    const third = await openWorld({ store: place.store, app });
    expect(await third.openEffects()).toEqual([]);
    expect((await recordsOf(place.store, 'receipt'))[0]?.quarantined).toBe(true);
    expect(await seen(third, 'x')).toEqual(['PlanFailed exhausted']);
    await closeSound(third, place.store, app);
  });

  it('when one death alone fell upon it, then it is innocent: somebody may have pulled the plug [REC-4]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const first = await openWorld({ store: place.store, app, clock });
    await ask(first, 'x', [wake('bell', 10)]);
    await place.disk.crash();
    clock.advance(20);
    await place.die({ clock });
    const third = await openWorld({ store: place.store, app, clock });
    await third.pump();
    expect(await seen(third, 'x')).toEqual(['timer bell']);
    await closeSound(third, place.store, app);
  });

  it('when the close was clean, then nothing is noted and nothing is suspect [REC-6]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const world = await openWorld({ store: place.store, app, clock });
    await ask(world, 'x', [wake('bell', 10)]);
    await world.close();
    clock.advance(20);
    const again = await openWorld({ store: place.store, app, clock });
    await again.pump();
    expect(await seen(again, 'x')).toEqual(['timer bell']);
    expect(place.noted).toEqual([]);
    await again.close();
    await expectSound(place.store, app);
  });

  it('when the process dies for another reason, then facts that were noted and became durable are not suspect [REC-6]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const adapter = outside(once);
    const first = await openWorld({ store: place.store, app, clock, adapters: [adapter] });
    await ask(first, 'x', [wake('bell', 10), start('call', 1)]);
    await place.disk.crash();
    clock.advance(20);
    const second = await openWorld({ store: place.store, app, clock, adapters: [adapter] });
    await second.pump();
    await ask(second, 'x', [wake('bell', 10)]);
    await place.disk.crash();
    clock.advance(20);
    adapter.answerAll(() => ok({ got: 1 }));
    const third = await openWorld({ store: place.store, app, clock, adapters: [adapter] });
    await third.pump();
    expect((await recordsOf(place.store, 'timer')).map(({ quarantined }) => quarantined)).toEqual([
      undefined,
      undefined,
    ]);
    expect((await seen(third, 'x'))?.filter((word) => word === 'timer bell')).toHaveLength(2);
    await closeSound(third, place.store, app);
  });
});
