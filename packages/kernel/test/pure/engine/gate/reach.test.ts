/** Reach: naming `send` in rights never lets a cell reach a stranger, unless the operator or a person names it. */
import type { PolicyRule, Principal } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../../conformance/part.js';
import { isRepriseError, openKernelWorld, type World } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound } from '../../../support/judge.js';
import { ask, cell, end, kernel, lab, note, seen, send } from '../../../support/lab.js';
import { hold, SEED } from '../../../support/laws/hold.js';

const COMMAND = 'npx vitest run packages/kernel/test/pure/engine/gate/reach.test.ts';

const { app } = lab({});

/** Only kin is reached. */
const NEAR: readonly PolicyRule[] = [{ effect: '*', decision: 'allow' }];

/** From the top: each is the child of the one before. */
const CHAIN = ['r', 'a', 'b'] as const;
const STRANGERS = ['s1', 's2'] as const;
type Key = (typeof CHAIN)[number];
type Stranger = (typeof STRANGERS)[number];
type Side = 'exercise' | 'grant';

const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;
const to = (key: string): string => `${cell(key).join('/')}#*`;

async function given(policy = NEAR) {
  const store = crashable();
  const world = await openKernelWorld({ store, app, policy, recheckEvery: 1 });
  await ask(world, 'r', [send('a', send('b'))]);
  for (const key of STRANGERS) await ask(world, key, []);
  return { store, world };
}

const set = (world: World, of: Key, change: object, as: Principal = 'operator') =>
  world.command('sys/SetRights@1', { holder: holder(of), ...change } as never, { as });

const sends = (...keys: string[]) => ({ may: { send: keys.map(to) } });

/** The strangers that each cell reaches now. */
async function reached(world: World): Promise<ReadonlySet<string>> {
  const words: string[] = [];
  for (const from of CHAIN) {
    if ((await world.state(cell(from))) === undefined) continue;
    const { seq } = await ask(
      world,
      from,
      STRANGERS.map((key) => send(key, note(`${from}`))),
    );
    for (const key of STRANGERS) {
      const heard = (await seen(world, key)) ?? [];
      if (heard.at(-1) === from) words.push(`${from}>${key}`);
      await ask(world, key, [note(`after ${seq}`)]);
    }
  }
  return new Set(words);
}

describe('given cells that no rule lets reach a stranger', () => {
  it.each<[string, (world: World) => Promise<unknown>]>([
    ['a cell that names it in its own rights', (world) => set(world, 'b', { exercise: sends('s1') }, holder('b'))],
    [
      'a cell that names it in its own reducer',
      (world) => ask(world, 'b', [kernel('sys/SetRights@1', { holder: holder('b'), exercise: sends('s1') })]),
    ],
    ['a cell whose parent names it', (world) => set(world, 'b', { exercise: sends('s1') }, holder('a'))],
    ['a cell below a grant that names it', (world) => set(world, 'a', { grant: sends('s1') }, holder('r'))],
    ['a cell that a cell further up narrows to it', (world) => set(world, 'b', { exercise: sends('s1') }, holder('r'))],
  ])('%s does not reach that stranger [GATE-36]', async (_, change) => {
    const { world, store } = await given();
    await change(world);
    expect([...(await reached(world))]).toEqual([]);
    await closeSound(world, store, app);
  });

  it.each(['operator', 'human:ann'] as const)(
    'a cell for which %s names it reaches that stranger [GATE-15, GATE-36]',
    async (as) => {
      const { world, store } = await given();
      await set(world, 'b', { exercise: sends('s1') }, as);
      expect([...(await reached(world))]).toEqual(['b>s1']);
      await closeSound(world, store, app);
    },
  );

  it('a cell that could only hand on a send reaches nobody by naming it for itself [GATE-36]', async () => {
    const { world, store } = await given();
    await set(world, 'a', { grant: sends('s1', 's2') });
    await set(world, 'a', { exercise: sends('s1') }, holder('a'));
    expect([...(await reached(world))].sort()).toEqual(['b>s1', 'b>s2']);
    await closeSound(world, store, app);
  });

  it('a cell that narrows what the operator named keeps the rest, and one that widens it keeps nothing [GATE-36]', async () => {
    const { world, store } = await given();
    await set(world, 'b', { exercise: sends('s1', 's2') });
    await set(world, 'b', { exercise: sends('s2') }, holder('b'));
    expect([...(await reached(world))]).toEqual(['b>s2']);
    await set(world, 'b', { exercise: sends('s1', 's2') }, holder('a'));
    expect([...(await reached(world))]).toEqual([]);
    await closeSound(world, store, app);
  });

  it('a cell that is made anew at the address reaches no stranger that was named for the one before [GATE-8, GATE-36]', async () => {
    const { world, store } = await given();
    await set(world, 'b', { exercise: sends('s1') });
    await ask(world, 'b', [end()]);
    await ask(world, 'a', [send('b')]);
    expect([...(await reached(world))]).toEqual([]);
    await set(world, 'b', { exercise: sends('s1') }, holder('a'));
    expect([...(await reached(world))]).toEqual([]);
    await set(world, 'b', { exercise: sends('s1') });
    expect([...(await reached(world))]).toEqual(['b>s1']);
    await closeSound(world, store, app);
  });

  it('a live fork keeps reach that stands at the cut and at the head alike [GATE-21, GATE-36]', async () => {
    const { world } = await given();
    await set(world, 'a', { exercise: sends('s1') });
    await set(world, 'b', { exercise: sends('s1') });
    const at = world.head.seq;
    await set(world, 'a', { grant: null });
    await set(world, 'b', { exercise: null });
    await set(world, 'b', { exercise: sends('s1') }, holder('a'));
    const store = crashable();
    await world.fork({ mode: 'live', at, into: store, grants: { may: {} } });
    const fork = await openKernelWorld({ store, app, policy: NEAR, recheckEvery: 1 });
    const declared = async (key: string) => (await fork.rights(holder(key))).declared;
    expect([(await declared('a'))?.reach, (await declared('b'))?.reach]).toEqual([['exercise'], undefined]);
    await closeSound(fork, store, app);
    await world.close();
  });

  it.each([
    ['keeps', 'before', [['exercise'], 1]],
    ['drops', 'after', [undefined, undefined]],
  ] as const)(
    'a live fork %s the reach of a cell that was made anew %s the cut [GATE-8, GATE-36]',
    async (_, when, kept) => {
      const { world } = await given();
      const again = async () => {
        await ask(world, 'b', [end()]);
        await ask(world, 'a', [send('b')]);
      };
      if (when === 'before') await again();
      await set(world, 'b', { exercise: sends('s1') });
      const at = world.head.seq;
      if (when === 'after') await again();
      await set(world, 'b', { exercise: sends('s1') });
      const store = crashable();
      await world.fork({ mode: 'live', at, into: store, grants: { may: {} } });
      const fork = await openKernelWorld({ store, app, policy: NEAR, recheckEvery: 1 });
      const { declared } = await fork.rights(holder('b'));
      expect([declared?.reach, declared?.inc]).toEqual(kept);
      await closeSound(fork, store, app);
      await world.close();
    },
  );
});

type Happening =
  | {
      readonly step: 'set';
      readonly by: Key | 'operator' | 'human:ann';
      readonly of: Key;
      readonly side: Side;
      /** Null: the side is not narrowed. */
      readonly names: readonly Stranger[] | null;
    }
  | { readonly step: 'anew'; readonly of: Key };

const anyKey = fc.constantFrom(...CHAIN);

const anyHappening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      step: fc.constant('set' as const),
      by: fc.oneof(
        { weight: 3, arbitrary: anyKey },
        { weight: 2, arbitrary: fc.constantFrom('operator', 'human:ann') },
      ),
      of: anyKey,
      side: fc.constantFrom<Side>('exercise', 'grant'),
      names: fc.option(fc.subarray([...STRANGERS]), { freq: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('anew' as const), of: anyKey }) },
);

/** One cell as the specification says it: its sides, and the strangers that the operator or a person gave it to reach. */
interface Stated {
  sides: Record<Side, readonly Stranger[] | null>;
  given: Record<Side, ReadonlySet<Stranger>>;
}

const unstated = (): Stated => ({
  sides: { exercise: null, grant: null },
  given: { exercise: new Set(), grant: new Set() },
});

/** What each cell reaches by GATE-15 and GATE-36, computed stranger by stranger. */
class Model {
  readonly #stated: Record<Key, Stated> = { r: unstated(), a: unstated(), b: unstated() };

  /** Whether a change by a cell may let a cell reach a stranger anew: what the setter can hand on itself. */
  handsOn(by: Key, to: Stranger): boolean {
    const chain = CHAIN.slice(0, CHAIN.indexOf(by) + 1);
    return chain.every((key) => this.#permits(key, 'grant', to)) && chain.some((key) => this.#gives(key, 'grant', to));
  }

  reaches(key: Key, to: Stranger): boolean {
    const above = CHAIN.slice(0, CHAIN.indexOf(key));
    const permitted = this.#permits(key, 'exercise', to) && above.every((one) => this.#permits(one, 'grant', to));
    return permitted && (this.#gives(key, 'exercise', to) || above.some((one) => this.#gives(one, 'grant', to)));
  }

  set({ by, of, side, names }: Extract<Happening, { step: 'set' }>): void {
    const stated = this.#stated[of];
    const source = this.#source(of, side);
    const was = stated.sides[source];
    const isWithin = was !== null && names?.every((one) => was.includes(one)) === true;
    const kept = new Set([...stated.given[source]].filter((one) => isWithin && names?.includes(one)));
    const byCell = by !== 'operator' && by !== 'human:ann';
    stated.sides[side] = names;
    stated.given[side] = byCell ? kept : new Set(names ?? []);
  }

  /** Sides stay with the address; what was given was given to one generation. */
  anew(of: Key): void {
    for (const key of CHAIN.slice(CHAIN.indexOf(of)))
      this.#stated[key].given = { exercise: new Set(), grant: new Set() };
  }

  #source(key: Key, side: Side): Side {
    return side === 'grant' && this.#stated[key].sides.grant === null ? 'exercise' : side;
  }

  #permits(key: Key, side: Side, to: Stranger): boolean {
    return this.#stated[key].sides[this.#source(key, side)]?.includes(to) ?? true;
  }

  #gives(key: Key, side: Side, to: Stranger): boolean {
    return this.#stated[key].given[this.#source(key, side)].has(to);
  }
}

/** Ends a cell and those below it, and has them made again. */
async function makeAnew(world: World, of: Key): Promise<void> {
  const gone = CHAIN.slice(CHAIN.indexOf(of));
  for (const key of [...gone].reverse()) await ask(world, key, [end()]);
  for (const key of gone) {
    const maker = CHAIN[CHAIN.indexOf(key) - 1];
    await (maker === undefined ? ask(world, key, []) : ask(world, maker, [send(key)]));
  }
}

/** Whether the gate took the change; a refused one changes nothing. */
async function isTaken(world: World, { by, of, side, names }: Extract<Happening, { step: 'set' }>): Promise<boolean> {
  const change = { [side]: names === null ? null : sends(...CHAIN, ...names) };
  try {
    await set(world, of, change, by === 'operator' || by === 'human:ann' ? by : holder(by));
    return true;
  } catch (error) {
    if (isRepriseError(error)) return false;
    throw error;
  }
}

/** Performs happenings, and says what was reached against the law; undefined when nothing was. */
async function violation(
  happenings: readonly Happening[],
  policy: readonly PolicyRule[] = NEAR,
): Promise<string | undefined> {
  const { world, store } = await given(policy);
  const model = new Model();
  try {
    for (const happening of happenings) {
      const before = await reached(world);
      const handsOn = (key: Stranger) =>
        happening.step === 'set' && happening.by !== 'operator' && happening.by !== 'human:ann'
          ? happening.by !== happening.of && model.handsOn(happening.by, key)
          : happening.step === 'set';
      const allowed = new Map(STRANGERS.map((key) => [key, handsOn(key)]));
      if (happening.step === 'anew') {
        await makeAnew(world, happening.of);
        model.anew(happening.of);
      } else if (await isTaken(world, happening)) model.set(happening);
      const after = await reached(world);
      for (const from of CHAIN)
        for (const key of STRANGERS) {
          const [is, was] = [after, before].map((all) => all.has(`${from}>${key}`));
          if (is && !was && allowed.get(key) !== true) return `${from} reaches ${key} by ${JSON.stringify(happening)}`;
          if (is !== model.reaches(from, key)) return `${from} ${is ? 'reaches' : 'does not reach'} ${key}`;
        }
    }
    return undefined;
  } finally {
    await closeSound(world, store, app);
  }
}

describe('given random chains of cells that name sends', () => {
  it(`what a cell reaches after a change of rights by a cell, it reached before or the setter could hand on (seed ${SEED}) [GATE-36]`, async () => {
    const law = fc.asyncProperty(fc.array(anyHappening, { maxLength: 6 }), async (happenings) => {
      expect(await violation(happenings)).toBeUndefined();
    });
    await hold(law, { numRuns: 80 / stepOf(4), command: COMMAND });
  });

  it('the law reports a cell that a rule lets reach a stranger', async () => {
    const named: Happening = { step: 'set', by: 'b', of: 'b', side: 'exercise', names: ['s1'] };
    const policy: readonly PolicyRule[] = [{ send: to('s1'), who: holder('b'), decision: 'allow' }, ...NEAR];
    expect(await violation([named])).toBeUndefined();
    expect(await violation([named], policy)).toMatch('b reaches s1');
  });
});
