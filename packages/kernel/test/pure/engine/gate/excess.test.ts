/** Changes of rights whose excess is cut off: they take what they name, and give what may be given. */
import type { Capability, Principal } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openKernelWorld, type World } from '../../../../src/index.js';
import { permits } from '../../../../src/pure/authority/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf } from '../../../support/judge.js';
import { ask, cell, lab, send } from '../../../support/lab.js';
import { hold, rerun, SEED } from '../../../support/laws/hold.js';
import { TestClock } from '../../../support/test-clock.js';
import { anyCapability } from '../../authority/capabilities.js';

const { app } = lab({});
const RUNS = Number(process.env.REPRISE_RUNS ?? 40);
const command = rerun('excess.test.ts');

const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;

/** A cell `g`, its child `p`, and a grandchild `x`. */
async function given() {
  const store = crashable();
  const policy = [{ send: '*', decision: 'allow' }] as const;
  const world = await openKernelWorld({ store, app, clock: new TestClock(), policy, recheckEvery: 1 });
  await ask(world, 'g', [send('p', send('x'))]);
  return { store, world };
}

const set = (world: World, key: string, change: object, as: Principal) =>
  world.command('sys/SetRights@1', { holder: holder(key), ...change } as never, { as });

const TEXTS = ['a', 'aa', 'a!', '!', '!a', '', ' '] as const;
const DIMENSIONS = ['effect', 'send', 'constructor', 'settle'] as const;

/** Everything that a capability permits of the texts, and its two numbers. */
function extentOf(one: Capability): { readonly texts: readonly boolean[]; readonly numbers: readonly number[] } {
  const texts = DIMENSIONS.flatMap((dimension) => TEXTS.map((text) => permits(one, dimension, text)));
  return { texts, numbers: [one.expires_at ?? 9, one.max_parallel ?? 9] };
}

const both = (a: readonly boolean[], b: readonly boolean[]) => a.map((one, i) => one && b[i] === true);
const least = (a: readonly number[], b: readonly number[]) => a.map((one, i) => Math.min(one, b[i] ?? 0));

/** Whether a capability permits a text, and both numbers of what it was cut to. */
function isHad(text: number, { numbers }: Extent, by: Extent): boolean {
  return by.texts[text] === true && numbers.every((number, i) => number <= (by.numbers[i] ?? 0));
}

const held = async (world: World, key: string) => (await world.rights(holder(key))).declared as never as Sides;
interface Sides {
  readonly exercise: Capability;
  readonly grant: Capability;
}

const anySides = fc.record({ exercise: anyCapability, grant: anyCapability });

describe(`changes of rights whose excess is cut off (seed ${SEED})`, () => {
  it('a child has afterwards all that its maker hands on of what it was to have, what it had of it as long as that lasts, and nothing longer or more at once than it had it or is handed it [GATE-37] [GATE-40]', async () => {
    const law = fc.asyncProperty(
      ...([anySides, anySides, anyCapability, fc.option(anyCapability)] as const),
      async (stood, asked, hands, heldTo) => {
        const { world, store } = await given();
        await set(world, 'x', stood, 'operator');
        await set(world, 'p', { exercise: hands, grant: hands }, 'operator');
        if (heldTo !== null) await set(world, 'p', { hold: heldTo }, holder('g'));
        const limit = extentOf((await world.rights(holder('p'))).effective?.grant as Capability);
        await set(world, 'x', { ...asked, excess: 'cut' }, holder('p'));
        const now = await held(world, 'x');
        for (const side of ['exercise', 'grant'] as const) {
          const [was, to, is] = [stood[side], asked[side], now[side]].map(extentOf) as [Extent, Extent, Extent];
          const handed = { texts: both(to.texts, limit.texts), numbers: least(to.numbers, limit.numbers) };
          expect(is.texts.every((text, i) => !text || isHad(i, is, was) || isHad(i, is, limit))).toBe(true);
          expect([both(is.texts, to.texts), least(is.numbers, to.numbers)]).toEqual([is.texts, is.numbers]);
          expect([both(handed.texts, is.texts), least(handed.numbers, is.numbers)]).toEqual([
            handed.texts,
            handed.numbers,
          ]);
          const lasts = least(was.numbers, handed.numbers).every((number, i) => number === handed.numbers[i]);
          if (lasts) expect(both(both(was.texts, to.texts), is.texts)).toEqual(both(was.texts, to.texts));
        }
        await closeSound(world, store, app);
      },
    );
    await hold(law, { numRuns: RUNS, command });
  });

  it('what a child had until an earlier end does not last until the later end of what its maker hands on [GATE-40]', async () => {
    const { world, store } = await given();
    const until = (expires_at: number, ...effect: string[]) => ({ may: { effect }, expires_at });
    await set(world, 'x', { exercise: until(100, 'a') }, 'operator');
    await set(world, 'p', { exercise: until(200, '!'), grant: until(200, '!') }, 'operator');
    await set(world, 'x', { exercise: until(200, 'a', '!'), excess: 'cut' }, holder('p'));
    expect((await held(world, 'x')).exercise).toEqual(until(200, '!'));
    await set(world, 'x', { exercise: until(100, 'a') }, 'operator');
    await set(world, 'x', { exercise: until(100, 'a', '!'), excess: 'cut' }, holder('p'));
    expect((await held(world, 'x')).exercise).toEqual(until(100, '!', 'a'));
    await closeSound(world, store, app);
  });

  it('a cell that narrows itself has afterwards what it had of it, and is never refused because it has less than it believes [GATE-37]', async () => {
    const law = fc.asyncProperty(anySides, anySides, fc.option(anyCapability), async (stood, asked, heldTo) => {
      const { world, store } = await given();
      await set(world, 'x', stood, 'operator');
      if (heldTo !== null) await set(world, 'x', { hold: heldTo }, holder('g'));
      await set(world, 'x', { ...asked, excess: 'cut' }, holder('x'));
      const now = await held(world, 'x');
      for (const side of ['exercise', 'grant'] as const) {
        const [was, to, is] = [stood[side], asked[side], now[side]].map(extentOf) as [Extent, Extent, Extent];
        expect(is.texts).toEqual(to.texts.map((text, i) => text && was.texts[i]));
        expect(is.numbers).toEqual(to.numbers.map((number, i) => Math.min(number, was.numbers[i] as number)));
      }
      await closeSound(world, store, app);
    });
    await hold(law, { numRuns: RUNS, command });
  });
});

type Extent = ReturnType<typeof extentOf>;

describe('given a change whose excess is to be cut off', () => {
  it.each(['operator', 'human:ann'] as const)(
    'a change of %s is refused: only cells do not know what they exceed',
    async (as) => {
      const { world, store } = await given();
      const change = { exercise: { may: { effect: ['a'] } }, excess: 'cut' };
      expect(await codeOf(set(world, 'x', change, as))).toBe('invalid_argument');
      await closeSound(world, store, app);
    },
  );

  it('a cell that is not the maker widens nothing, and one that stands below nothing of it changes nothing [GATE-6]', async () => {
    const { world, store } = await given();
    await set(world, 'x', { exercise: { may: { effect: [] } } }, 'operator');
    const change = { exercise: { may: { effect: ['a'] } }, excess: 'cut' };
    for (const as of [holder('g'), holder('x')]) await set(world, 'x', change, as).catch(() => undefined);
    expect((await held(world, 'x')).exercise).toEqual({ may: { effect: [] } });
    expect(await codeOf(set(world, 'p', change, holder('x')))).toBe('cap_denied');
    await closeSound(world, store, app);
  });

  it('a hold takes no such option', async () => {
    const { world, store } = await given();
    const change = { hold: { may: { effect: [] } }, excess: 'cut' };
    expect(await codeOf(set(world, 'x', change, holder('g')))).toBe('invalid_argument');
    await closeSound(world, store, app);
  });
});
