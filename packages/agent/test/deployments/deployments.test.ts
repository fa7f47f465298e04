/** Calls that wait for people while the tools of the app change: what runs, and who is asked again. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Pending } from '../../src/index.js';
import { deploy, FIRST, type PayVersion, type Process, pays, waits } from './deploying.js';

const ANN = { as: 'human:ann' } as const;
const BOB = { as: 'human:bob' } as const;

/** Approves the one item that waits, as it is listed. */
const approves = (build: PayVersion, after?: (waiting: Pending) => void): Process => ({
  build,
  steps: [{ text: 'Done.' }],
  act: async ({ world }) => {
    const [item] = await world.pending();
    if (item === undefined) throw new Error('nothing waits');
    after?.(item);
    expect(await world.decide(item, { approve: true }, ANN)).toEqual({ status: 'applied' });
  },
});

const HARMLESS: readonly (readonly [what: string, build: PayVersion])[] = [
  ['its description', { description: 'Pays a bill.' }],
  ['the description of an argument', { args: z.strictObject({ n: z.int().describe('The amount.') }) }],
  ['its time limit', { timeout: '3s' }],
  ['its handler', {}],
];

describe('an approval that waits while a deployment changes its tool', () => {
  it.each(HARMLESS)(
    'an approval stays valid and unchanged when a deployment changes %s [TOOL-46]',
    async (_, build) => {
      const ran: unknown[] = [];
      const run = (args: unknown) => void ran.push(args);
      await deploy(
        waits(),
        approves({ ...build, run }, ({ changed }) => expect(changed).toBeUndefined()),
      );
      expect(ran).toEqual([{ n: 1 }]);
    },
  );

  it('a person is shown both versions of a tool whose meaning has changed, and decides on the new one [TOOL-47]', async () => {
    const [, ran] = await deploy(
      waits(),
      approves({ guarantee: 'idempotent', description: 'Wipes the account.' }, ({ changed }) => {
        expect(changed).toMatchObject({
          before: { description: 'Pays.', guarantee: 'at_most_once' },
          after: { description: 'Wipes the account.', guarantee: 'idempotent' },
        });
      }),
    );
    expect(ran).toEqual([{ n: 1 }]);
  });

  it('a decision that does not name the digest of both versions does nothing and is answered with the item [TOOL-48]', async () => {
    let seen: Pending | undefined;
    const [, ran] = await deploy(
      {
        ...waits(),
        act: async ({ say, world }) => {
          await say('Pay.');
          [seen] = await world.pending();
        },
      },
      {
        build: { args: FIRST.extend({ note: z.string().optional() }) },
        steps: [{ text: 'Done.' }],
        act: async ({ world, settle }) => {
          for (const how of [{ approve: true }, { deny: 'no' }] as const)
            for (const item of [seen, seen?.id]) {
              const decided = await world.decide(item ?? '', how, ANN);
              expect(decided).toMatchObject({ status: 'changed', item: { changed: { before: {}, after: {} } } });
            }
          await settle();
          const { item } = await world.decide(seen?.id ?? '', { approve: true }, ANN);
          expect(await world.decide(item ?? '', { approve: true }, ANN)).toEqual({ status: 'applied' });
        },
      },
    );
    expect(ran).toEqual([{ n: 1 }]);
  });

  it('an approval that could run nothing is refused, and the item stays until it is denied or its arguments are edited [TOOL-49]', async () => {
    const [, ran] = await deploy(waits(), {
      build: { args: FIRST.extend({ account: z.string() }) },
      steps: [{ text: 'Done.' }],
      act: async ({ world }) => {
        const [item] = await world.pending();
        await expect(world.decide(item ?? '', { approve: true }, ANN)).rejects.toMatchObject({ code: 'invalid_value' });
        const args = { n: 2, account: 'a' };
        expect(await world.decide(item ?? '', { approve: true, args }, ANN)).toEqual({ status: 'applied' });
      },
    });
    expect(ran).toEqual([{ n: 2, account: 'a' }]);
  });
});

/** Approves in a process that ends before the call has; the next one offers the call again. */
const approvesAndEnds = (approval: PayVersion['approval'] = 'always'): Process => ({
  build: {
    guarantee: 'idempotent',
    approval,
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  },
  steps: [pays()],
  ends: true,
  act: async ({ say, world }) => {
    await say('Pay.');
    const [item] = await world.pending();
    expect(await world.decide(item ?? '', { approve: true }, ANN)).toEqual({ status: 'applied' });
  },
});

describe('a call that was approved and meets another build', () => {
  it('a call whose arguments mean the same to both versions runs without another question [TOOL-50]', async () => {
    const args = FIRST.extend({ note: z.string().optional() });
    const [, ran] = await deploy(approvesAndEnds(), {
      build: { guarantee: 'idempotent', args },
      steps: [{ text: 'Done.' }],
      act: async ({ world }) => expect(await world.pending()).toEqual([]),
    });
    expect(ran).toEqual([{ n: 1 }]);
  });

  it('the same person is asked again about a call whose tool takes its arguments otherwise [SES-37]', async () => {
    const args = FIRST.extend({ currency: z.string().default('eur') });
    const [, ran] = await deploy(approvesAndEnds(), {
      build: { guarantee: 'idempotent', args },
      steps: [{ text: 'Done.' }],
      act: async ({ world }) => {
        const [item, ...others] = await world.pending();
        expect(others).toEqual([]);
        expect(item).toMatchObject({
          to: 'human:ann',
          tool: 'pay',
          args: { n: 1 },
          changed: { before: {}, after: {} },
        });
        expect(await world.decide(item?.id ?? '', { approve: true }, ANN)).toMatchObject({ status: 'changed' });
        await expect(world.decide(item ?? '', { approve: true }, BOB)).rejects.toMatchObject({ code: 'cap_denied' });
        expect(await world.decide(item ?? '', { approve: true }, ANN)).toEqual({ status: 'applied' });
      },
    });
    expect(ran).toEqual([{ n: 1, currency: 'eur' }]);
  });

  it('a rule that names other people now has them asked again, and one that named them before does not [TOOL-51]', async () => {
    const to = (who: string) => () => ({ reason: 'money', to: who });
    const [, ran] = await deploy(approvesAndEnds(to('human:a*')), {
      build: { guarantee: 'idempotent', approval: to('human:bob') },
      steps: [{ text: 'Done.' }],
      act: async ({ world }) => {
        const [item] = await world.pending();
        expect(item).toMatchObject({ to: 'human:bob', reason: 'money' });
        expect(await world.decide(item ?? '', { approve: true }, BOB)).toEqual({ status: 'applied' });
      },
    });
    expect(ran).toEqual([{ n: 1 }]);
    const [, again] = await deploy(approvesAndEnds(to('human:a*')), {
      build: { guarantee: 'idempotent', approval: to('human:ann') },
      steps: [{ text: 'Done.' }],
      act: async () => undefined,
    });
    expect(again).toEqual([{ n: 1 }]);
  });

  it('the arguments that a person edited are asked about again, and not those of the model', async () => {
    const first = approvesAndEnds();
    const [, ran] = await deploy(
      {
        ...first,
        act: async ({ say, world }) => {
          await say('Pay.');
          const [item] = await world.pending();
          await world.decide(item ?? '', { approve: true, args: { n: 7 } }, ANN);
        },
      },
      {
        build: { guarantee: 'idempotent', args: FIRST.extend({ currency: z.string().default('eur') }) },
        steps: [{ text: 'Done.' }],
        act: async ({ world }) => {
          const [item] = await world.pending();
          expect(item?.args).toEqual({ n: 7 });
          await world.decide(item ?? '', { approve: true }, ANN);
        },
      },
    );
    expect(ran).toEqual([{ n: 7, currency: 'eur' }]);
  });
});

describe('an approval that is remembered', () => {
  const remembers: Process = {
    build: {},
    steps: [pays(), { text: 'Done.' }],
    act: async ({ say, world, settle }) => {
      await say('Pay.');
      const [item] = await world.pending();
      await world.decide(item ?? '', { approve: true, remember: true }, ANN);
      await settle();
    },
  };
  const next = (build: PayVersion, waiting: number): Process => ({
    build,
    steps: [pays(), { text: 'Done.' }],
    act: async ({ say, world }) => {
      await say('Again.');
      expect(await world.pending()).toHaveLength(waiting);
    },
  });

  it.each([
    ['its words', { description: 'Wipes the account.' }],
    ['the words of an argument', { args: z.strictObject({ n: z.int().describe('What is wiped.') }) }],
    ['its meaning', { args: FIRST.extend({ all: z.boolean().optional() }) }],
  ] as const)(
    'a remembered approval does not cover a tool that has changed %s [TOOL-52, GATE-38]',
    async (_, build) => {
      const [, ran] = await deploy(remembers, next(build, 1));
      expect(ran).toEqual([]);
    },
  );

  it('a remembered approval covers a tool of which only the way it is run has changed [TOOL-52]', async () => {
    const [, ran] = await deploy(remembers, next({ timeout: '5s' }, 0));
    expect(ran).toEqual([{ n: 1 }]);
  });

  it('an approval is remembered for new words only after they were shown', async () => {
    const words = { description: 'Wipes the account.' };
    const [, ran] = await deploy(
      waits(),
      {
        build: words,
        steps: [{ text: 'Done.' }],
        act: async ({ world }) => {
          const [listed] = await world.pending();
          expect(listed?.changed).toBeUndefined();
          const { status, item } = await world.decide(listed ?? '', { approve: true, remember: true }, ANN);
          expect([status, item?.changed?.after.description]).toEqual(['changed', 'Wipes the account.']);
          expect(await world.decide(item ?? '', { approve: true, remember: true }, ANN)).toEqual({ status: 'applied' });
        },
      },
      next(words, 0),
    );
    expect(ran).toEqual([{ n: 1 }]);
  });
});
