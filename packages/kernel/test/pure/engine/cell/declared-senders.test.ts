/** Declared senders: what a recipe gets of them, what is refused when they are defined, and what follows from them. */
import { type Value, value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  by,
  creates,
  defineApp,
  defineReducer,
  from,
  fromAll,
  isRepriseError,
  memory,
  openKernelWorld,
  senderRules,
  type Who,
} from '../../../../src/index.js';

const DESK = 'law/Desk@1';
const PEER = 'law/Peer@1';
const told = z.strictObject({ what: z.string() });

const desk = defineReducer({
  name: DESK,
  state: z.strictObject({ heard: z.array(z.string()) }),
  tables: { peers: z.strictObject({ rank: z.int() }), jobs: z.int() },
  events: {
    'law/Open@1': creates(from(z.strictObject({}), by.outside)),
    'law/Told@1': from(told, by.row('peers', { reducer: PEER }), by.self),
    'law/Done@1': from(told, by.row('jobs', { reducer: PEER, key: [{ own: true }, '/j', { row: true, digits: 4 }] })),
  },
  init: () => ({ heard: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'law/Open@1') {
      ctx.table('peers').set('ann', { rank: 7 });
      ctx.table('jobs').set('0012', 3);
      ctx.send(ctx.address, { name: 'law/Told@1', value: { what: 'itself' } });
    } else if (event.name === 'law/Told@1') {
      draft.heard.push(`${event.value.what} ${event.row?.rank ?? 'no row'} ${ctx.rowKey} ${ctx.caller?.[1]}`);
    } else draft.heard.push(`${event.value.what} ${event.row} ${ctx.rowKey}`);
  },
});

const peer = defineReducer({
  name: PEER,
  state: z.strictObject({ answers: z.array(value()) }),
  events: {
    'law/Tell@1': creates(
      z.strictObject({ to: z.tuple([z.string(), z.string()]), name: z.string(), what: z.string() }),
    ),
    'sys/Reply@1': z.strictObject({
      outcome: z.string(),
      code: z.optional(z.string()),
      to: value(),
      event: z.string(),
    }),
  },
  init: () => ({ answers: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'law/Tell@1') {
      const { to, name, what } = event.value;
      ctx.send(to, { name, value: { what } }, { reply: true });
    } else draft.answers.push(event.value.code ?? event.value.outcome);
  },
});

async function deskWorld() {
  const world = await openKernelWorld({ store: memory(), app: defineApp({ reducers: [desk, peer] }) });
  await world.request([DESK, 'd'], { name: 'law/Open@1', value: {} });
  const tells = (key: string, name: string) =>
    world.request([PEER, key], { name: 'law/Tell@1', value: { to: [DESK, 'd'], name, what: key } });
  const heard = async () => (await world.state([DESK, 'd'])) as Value;
  const answers = async (key: string) => ((await world.state([PEER, key])) as { readonly answers: Value }).answers;
  return { world, tells, heard, answers };
}

describe('the row of a sender', () => {
  it('a recipe gets the row of its sender, the key of the row and the cell to answer to [RED-36]', async () => {
    const { world, tells, heard, answers } = await deskWorld();
    await tells('ann', 'law/Told@1');
    await tells('bob', 'law/Told@1');
    expect(await heard()).toEqual({ heard: ['itself no row null d', 'ann 7 ann ann'] });
    expect([await answers('ann'), await answers('bob')]).toEqual([['accepted'], ['not_yours']]);
    expect((await world.verify()).unverified).toBe(0);
    await world.close();
  });

  it('a number in the key of a sender finds its row among keys with leading zeros, in one spelling only [RED-36]', async () => {
    const { tells, heard, answers, world } = await deskWorld();
    for (const key of ['d/j12', 'd/j012', 'd/j0012', 'd/j13', 'd/j', 'd/j12x', 'e/j12', 'xd/j12'])
      await tells(key, 'law/Done@1');
    expect(await heard()).toEqual({ heard: ['itself no row null d', 'd/j12 3 0012'] });
    expect(await answers('d/j012')).toEqual(['not_yours']);
    await world.close();
  });
});

const nothing = z.strictObject({ named: z.string() });

function declaring(...who: readonly Who[]) {
  return defineReducer({
    name: 'law/Declares@1',
    state: z.strictObject({ owner: z.nullable(z.tuple([z.string(), z.string()])) }),
    tables: { rows: z.int() },
    events: { 'law/It@1': creates({ from: who, schema: nothing }) },
    init: () => ({ owner: null }),
    reduce: () => undefined,
  });
}

describe('what a declaration may say', () => {
  it.each<[string, readonly Who[]]>([
    ['no form', []],
    ['a field of the state that is absent', [by.cell({ state: 'starter' })]],
    ['a table that is absent', [by.row('nodes', { reducer: PEER })]],
    ['a field of the event that is absent', [by.cell({ reducer: PEER, key: [{ event: 'creator' }] })]],
    ['a field of the state in a key that is absent', [by.cell({ reducer: PEER, key: ['a', { state: 'creator' }] })]],
    ['a row in the key of a cell', [by.cell({ reducer: PEER, key: [{ row: true }] })]],
    ['no row in the key of a row', [by.row('rows', { reducer: PEER, key: [{ own: true }] })]],
    ['two rows in one key', [by.row('rows', { reducer: PEER, key: [{ row: true }, { row: true }] })]],
    ['an empty key', [by.cell({ reducer: PEER, key: [] })]],
    ['something else than a form', ['operator' as unknown as Who]],
  ])('a declaration with %s is refused [RED-38]', (_what, who) => {
    expect(() => declaring(...who)).toThrow(expect.objectContaining({ code: 'invalid_definition' }));
  });

  it('a declaration for a notice of the kernel is refused [RED-38]', () => {
    const define = () =>
      defineReducer({
        name: 'law/Notice@1',
        state: z.strictObject({}),
        events: { 'sys/TimerFired@1': from(z.strictObject({ name: z.string(), due: z.int() }), by.any) },
        init: () => ({}),
        reduce: () => undefined,
      });
    expect(define).toThrow(expect.objectContaining({ code: 'invalid_definition' }));
  });

  it('a changed declaration gives another digest, an equal one the same [RED-37]', () => {
    const digests = [
      declaring(by.any),
      declaring(by.outside),
      declaring(by.outside, by.maker),
      declaring(by.maker, by.outside),
      declaring(by.row('rows', { reducer: PEER })),
      declaring(by.row('rows', { reducer: DESK })),
      declaring(by.cell({ state: 'owner' })),
    ].map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(digests.length);
    expect(declaring(by.cell({ state: 'owner' })).digest).toBe(digests.at(-1));
  });
});

describe('the rules that follow from declarations', () => {
  it('the rules let the cells that a form names by reducer reach the receiver, and no adapter [GATE-32]', () => {
    expect(senderRules([desk])).toEqual([
      { send: `${DESK}/*`, who: 'adapter:*', decision: 'deny' },
      { send: `${DESK}/*`, who: `cell:${PEER}/*`, decision: 'allow' },
    ]);
    const fixed = declaring(by.cell({ reducer: PEER, key: ['desk'] }), by.adapter);
    expect(senderRules([fixed])).toEqual([{ send: 'law/Declares@1/*', who: `cell:${PEER}/desk`, decision: 'allow' }]);
    const prefixed = declaring(by.cell({ reducer: PEER, key: ['a/', { own: true }] }));
    expect(senderRules([prefixed]).at(-1)).toMatchObject({ who: `cell:${PEER}/a/*` });
  });

  it('a reducer that declares nothing, or only that it takes each sender, has no rules [GATE-32]', () => {
    expect(senderRules([peer, declaring(by.any)])).toEqual([]);
  });
});

describe('the same senders for several events', () => {
  it('declares each event with them', () => {
    const declared = fromAll({ 'a/B@1': nothing, 'a/C@1': told }, by.outside, by.maker);
    expect(Object.values(declared).map(({ from: who }) => who)).toEqual([
      [by.outside, by.maker],
      [by.outside, by.maker],
    ]);
    expect(declared['a/C@1'].schema).toBe(told);
  });
});

describe('a declaration that refuses what was recorded', () => {
  const version = (...who: readonly [Who, ...Who[]]) =>
    defineApp({
      reducers: [
        defineReducer({
          name: 'law/Counter@1',
          state: z.strictObject({ n: z.int() }),
          events: { 'law/Add@1': creates(from(z.strictObject({}), ...who)) },
          init: () => ({ n: 0 }),
          reduce: (draft) => void draft.n++,
        }),
      ],
    });

  it('opening says that the era cannot continue, and a declaration that permits all of it continues [RED-37]', async () => {
    const store = memory();
    const first = await openKernelWorld({ store, app: version(by.outside) });
    await first.request(['law/Counter@1', 'c'], { name: 'law/Add@1', value: {} });
    await first.close();
    const narrower = openKernelWorld({ store, app: version(by.self) });
    await expect(narrower).rejects.toSatisfy((error) => isRepriseError(error, 'era_incompatible'));
    const wider = await openKernelWorld({ store, app: version(by.outside, by.self) });
    await wider.request(['law/Counter@1', 'c'], { name: 'law/Add@1', value: {} });
    expect(await wider.state(['law/Counter@1', 'c'])).toEqual({ n: 2 });
    await wider.close();
  });
});
