import { describe, expect, it } from 'vitest';
import { defineApp, openKernelWorld, type Store } from '../../../../src/index.js';
import { continueInput, timerInput } from '../../../../src/run/world/write/own-inputs.js';
import { Suspects } from '../../../../src/run/world/write/suspects.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, expectSound, recordsOf, until } from '../../../support/judge.js';
import { add, ask, lab, numberOf, once, seen, sendMany, start, tellCell, wake, when } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

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
    /** How often it died. */
    deaths: 0,
    /** The process dies as soon as it notes a fact whose name begins so. */
    dyingAt: undefined as string | undefined,
    store: undefined as unknown as Store,
    /** Opens the world in a process that dies as soon as it notes a fact. */
    async die(options: { clock?: TestClock; store?: Store } = {}) {
      const before = noted.length;
      self.dying = true;
      void openKernelWorld({ store: self.store, app, ...options }).catch(() => undefined);
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
          const meant = self.dyingAt !== undefined && note?.replace(/^\d+ /, '').startsWith(self.dyingAt) === true;
          if (!(self.dying || meant) || note === null) return;
          await disk.crash();
          self.deaths++;
          await new Promise(() => undefined);
        },
      };
    },
  };
  return self;
}

describe('given an input that kills the process when it is folded', () => {
  it('a timer is quarantined after the third death, and the world continues [REC-4]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const first = await openKernelWorld({ store: place.store, app, clock });
    await ask(first, 'x', [add(1), wake('bell', 10), when('bell', add(1))]);
    await place.disk.crash(); // the first death, with nothing noted: the last close was clean
    clock.advance(20);
    await place.die({ clock });
    await place.die({ clock });
    const third = await openKernelWorld({ store: place.store, app, clock });
    await third.pump();
    expect((await recordsOf(place.store, 'timer')).map(({ quarantined }) => quarantined)).toEqual([true]);
    expect([await numberOf(third, 'x'), await seen(third, 'x')]).toEqual([1, []]);
    await ask(third, 'x', [add(1)]);
    expect(place.noted.at(-1)).toBeNull();
    await closeSound(third, place.store, app);
  });

  it('openings that are refused between the deaths take none of them back [REC-4]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const first = await openKernelWorld({ store: place.store, app, clock });
    await ask(first, 'x', [add(1), wake('bell', 10)]);
    await place.disk.crash();
    clock.advance(20);
    const other = defineApp({ reducers: [] }); // another release: its process refuses the world
    const refused = () => openKernelWorld({ store: place.store, app: other, clock }).catch((error) => error.code);
    for (let deaths = 0; deaths < 2; deaths++) {
      expect([await refused(), await refused()]).toEqual(['manifest_mismatch', 'manifest_mismatch']);
      await place.die({ clock });
    }
    expect(await refused()).toBe('manifest_mismatch');
    const last = await openKernelWorld({ store: place.store, app, clock });
    await last.pump();
    expect((await recordsOf(place.store, 'timer')).map(({ quarantined }) => quarantined)).toEqual([true]);
    await closeSound(last, place.store, app);
    await (await openKernelWorld({ store: place.store, app, clock })).close();
  });

  it('a quarantined receipt has its effect settled and its plan ended', async () => {
    const place = deadly();
    const first = outside(once);
    const world = await openKernelWorld({ store: place.store, app, adapters: [first] });
    await ask(world, 'x', [start('call', 1)]);
    await first.call(0);
    await place.disk.crash();
    await place.die();
    await place.die();
    const third = await openKernelWorld({ store: place.store, app });
    expect(await third.openEffects()).toEqual([]);
    expect((await recordsOf(place.store, 'receipt'))[0]?.quarantined).toBe(true);
    expect(await seen(third, 'x')).toEqual(['PlanFailed exhausted']);
    await closeSound(third, place.store, app);
  });

  it('a timer that was noted when two owners lost their leases is folded, for nobody died [REC-11]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const leased = {
      ...place.store,
      open: async () => {
        const open = await place.store.open();
        return { ...open, ...(open.cleanlyClosed ? {} : { ended: 'lost' as const }) };
      },
    };
    const first = await openKernelWorld({ store: leased, app, clock });
    await ask(first, 'x', [wake('bell', 10)]);
    await place.disk.crash();
    clock.advance(20);
    for (let round = 0; round < 3; round++) await place.die({ clock, store: leased });
    const last = await openKernelWorld({ store: leased, app, clock });
    await last.pump();
    expect((await recordsOf(place.store, 'timer')).map(({ quarantined }) => quarantined)).toEqual([undefined]);
    expect(await seen(last, 'x')).toEqual(['timer bell']);
    await closeSound(last, place.store, app);
  });

  it('each fold of a noted input, and no other, is one that a store can put the death of the process down to [REC-12]', async () => {
    const clock = new TestClock();
    const disk = crashable();
    let note: string | null = null;
    const during: (string | null)[] = [];
    const store: Store = {
      ...disk,
      open: async () => {
        const open = await disk.open();
        return {
          ...open,
          mark: async (text) => {
            note = text;
            await open.mark(text);
          },
          answerFor: (fold) => {
            during.push(note);
            return fold();
          },
        };
      },
    };
    const first = await openKernelWorld({ store, app, clock });
    await ask(first, 'x', [wake('bell', 10)]);
    await first.pump();
    expect(during).toEqual([]); // the last close was clean: nothing is noted
    await disk.crash();
    clock.advance(20);
    const second = await openKernelWorld({ store, app, clock });
    await second.pump();
    await ask(second, 'x', [add(1)]); // a request is not noted
    expect(during.length).toBeGreaterThan(0);
    expect(during.filter((text) => text === null || !text.startsWith('1 '))).toEqual([]);
    const folds = during.length;
    await ask(second, 'x', [add(1)]);
    expect(during).toHaveLength(folds);
    await closeSound(second, store, app);
  });

  it('an input that caused a single death is folded: the cause may have been a power failure [REC-4]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const first = await openKernelWorld({ store: place.store, app, clock });
    await ask(first, 'x', [wake('bell', 10)]);
    await place.disk.crash();
    clock.advance(20);
    await place.die({ clock });
    const third = await openKernelWorld({ store: place.store, app, clock });
    await third.pump();
    expect(await seen(third, 'x')).toEqual(['timer bell']);
    await closeSound(third, place.store, app);
  });

  it('a clean close leaves no note and no suspect [REC-6]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const world = await openKernelWorld({ store: place.store, app, clock });
    await ask(world, 'x', [wake('bell', 10)]);
    await world.close();
    clock.advance(20);
    const again = await openKernelWorld({ store: place.store, app, clock });
    await again.pump();
    expect(await seen(again, 'x')).toEqual(['timer bell']);
    expect(place.noted).toEqual([]);
    await again.close();
    await expectSound(place.store, app);
  });

  it('an input that was noted and became durable is not suspect when the process dies for another reason [REC-6]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const adapter = outside(once);
    const first = await openKernelWorld({ store: place.store, app, clock, adapters: [adapter] });
    await ask(first, 'x', [wake('bell', 10), start('call', 1)]);
    await place.disk.crash();
    clock.advance(20);
    const second = await openKernelWorld({ store: place.store, app, clock, adapters: [adapter] });
    await second.pump();
    await ask(second, 'x', [wake('bell', 10)]);
    await place.disk.crash();
    clock.advance(20);
    adapter.answerAll(() => ok({ got: 1 }));
    const third = await openKernelWorld({ store: place.store, app, clock, adapters: [adapter] });
    await third.pump();
    expect((await recordsOf(place.store, 'timer')).map(({ quarantined }) => quarantined)).toEqual([
      undefined,
      undefined,
    ]);
    expect((await seen(third, 'x'))?.filter((word) => word === 'timer bell')).toHaveLength(2);
    await closeSound(third, place.store, app);
  });

  it('no cascade is cut off when each process dies in the rest of another cascade [REC-6]', async () => {
    const place = deadly();
    const first = await openKernelWorld({ store: place.store, app });
    await ask(first, 'x', [add(1)]);
    await place.disk.crash();
    for (const round of [1, 2, 3, 4]) {
      const world = await openKernelWorld({ store: place.store, app });
      for (let n = 0; n < round; n++) await ask(world, 'x', [sendMany(300, `to${round}-${n}-`, add(1))]);
      place.dyingAt = 'continue';
      void ask(world, 'x', [sendMany(300, `lost${round}-`, add(1))]).catch(() => undefined);
      await until(() => place.deaths === round, 'the death');
      place.dyingAt = undefined;
    }
    const last = await openKernelWorld({ store: place.store, app });
    await ask(last, 'x', [sendMany(300, 'to5-', add(1))]);
    const cut = (await recordsOf(place.store, 'continue')).filter(({ quarantined }) => quarantined !== undefined);
    expect(cut).toEqual([]);
    expect(await numberOf(last, 'to5-299')).toBe(1);
    await closeSound(last, place.store, app);
  });

  it('the note of an input is removed after its fold, before its commit begins [REC-6]', async () => {
    const clock = new TestClock();
    const place = deadly();
    const first = await openKernelWorld({ store: place.store, app, clock });
    await ask(first, 'x', [wake('bell', 10), wake('gong', 10)]);
    await place.disk.crash();
    clock.advance(20);
    const second = await openKernelWorld({ store: place.store, app, clock });
    await second.pump();
    expect(place.noted.filter((note) => note === null)).toHaveLength(2);
    expect(place.noted.map((note) => note === null)).toEqual([false, true, false, true]);
    await closeSound(second, place.store, app);
  });
});

describe('given the notes of inputs', () => {
  const suspicion = (noted: string | null, died = true) => {
    const notes: (string | null)[] = [];
    return { notes, suspects: new Suspects({ noted, died, note: async (text) => void notes.push(text) }) };
  };

  it('the next input of the same name begins without a death after the suspect was folded [REC-6]', async () => {
    const { notes, suspects } = suspicion('1 rest');
    expect(await suspects.note('rest')).toBe('noted');
    await suspects.clear('rest');
    expect(await suspects.note('rest')).toBe('noted');
    expect(notes).toEqual(['2 rest', null, '1 rest']);
  });

  it('an input is quarantined after two owners died of it, and another one is not [REC-4]', async () => {
    const { notes, suspects } = suspicion('2 ring');
    expect(await suspects.note('other')).toBe('noted');
    await suspects.clear('other');
    expect(await suspects.note('ring')).toBe('poison');
    expect(notes).toEqual(['1 other', null]);
  });

  it('an input that was being folded when two owners lost their leases counts no death [REC-11]', async () => {
    const { notes, suspects } = suspicion('1 ring', false);
    expect(await suspects.note('ring')).toBe('noted');
    expect(notes).toEqual(['1 ring']); // and so after each further loss
  });

  it('deaths before a lost lease still count [REC-11]', async () => {
    const afterLoss = suspicion('2 ring', false);
    expect(await afterLoss.suspects.note('ring')).toBe('noted');
    expect(afterLoss.notes).toEqual(['2 ring']);
    expect(await suspicion('2 ring', true).suspects.note('ring')).toBe('poison');
  });

  it('two timers whose names differ only in the place of a separator have different notes', () => {
    const timer = { plan: null, name: 'n', due: 1 };
    const one = timerInput({ ...timer, cell: ['lab/Cell@1', 'a  n 1'], name: 'n' }).nameAt?.(0);
    const two = timerInput({ ...timer, cell: ['lab/Cell@1', 'a'], name: 'n 1  n' }).nameAt?.(0);
    expect(one).not.toBe(two);
    expect(continueInput.nameAt?.(4)).not.toBe(continueInput.nameAt?.(5));
  });
});
