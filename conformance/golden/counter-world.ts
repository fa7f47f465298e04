/** A golden world of reducers alone: sends, replies, timers, logs, identifiers, faults, ends, a snapshot. */
import { type Address, formatAddress } from '@reprise/contracts';
import { creates, defineApp, defineReducer, openKernelWorld } from '@reprise/kernel';
import * as z from 'zod';
import type { GoldenWorld } from './worlds.js';

const fired = z.strictObject({ name: z.string(), due: z.int() });
const answered = z.strictObject({
  to: z.tuple([z.string(), z.string()]),
  event: z.string(),
  outcome: z.enum(['accepted', 'rejected']),
  code: z.exactOptional(z.string()),
});

const account = defineReducer({
  name: 'golden/Account@1',
  state: z.strictObject({
    balance: z.int(),
    ids: z.array(z.string()),
    odd: z.record(z.string(), z.number()),
    answers: z.array(z.string()),
    bonus: z.int().default(1),
  }),
  events: {
    'golden/Opened@1': creates(z.strictObject({})),
    'golden/Paid@1': creates(z.strictObject({ amount: z.int() })),
    'golden/Ordered@1': z.strictObject({ to: z.string(), amount: z.int() }),
    'golden/Closed@1': z.strictObject({}),
    'golden/Counted@1': z.strictObject({}),
    'sys/TimerFired@1': fired,
    'sys/Reply@1': answered,
  },
  facts: { 'golden/Moved@1': z.strictObject({ balance: z.int(), share: z.number() }) },
  logs: { moves: z.union([z.int(), z.string()]) },
  init: () => ({ answers: [], odd: {}, balance: 0, ids: [] }) as never,
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 'golden/Opened@1':
        draft.ids.push(ctx.id('account'));
        return ctx.timer('interest', ctx.now + 60_000);
      case 'golden/Paid@1':
        if (event.value.amount > 1_000) ctx.reject('too_much');
        draft.balance += event.value.amount;
        ctx.append('moves', event.value.amount);
        ctx.record('golden/Moved@1', { balance: draft.balance, share: draft.balance / 3 });
        return;
      case 'golden/Ordered@1':
        draft.balance -= event.value.amount;
        ctx.append('moves', `to ${event.value.to}`);
        return ctx.send(
          ['golden/Account@1', event.value.to],
          { name: 'golden/Paid@1', value: { amount: event.value.amount } },
          { reply: true },
        );
      case 'golden/Counted@1':
        for (const key of ['zz', '10', '9', 'a', 'é']) draft.odd[key] = Object.keys(draft.odd).length / 7;
        delete draft.odd.a;
        draft.odd.minus = -0;
        draft.odd.chance = ctx.random();
        draft.odd.large = 2 ** 53;
        return;
      case 'golden/Closed@1':
        return ctx.end();
      case 'sys/TimerFired@1':
        draft.balance += draft.bonus;
        if (draft.balance < 0) throw new TypeError('overdrawn');
        return ctx.timer('interest', event.value.due + 60_000);
      case 'sys/Reply@1':
        draft.answers.push(`${event.value.event} ${event.value.outcome} ${event.value.code ?? ''}`);
    }
  },
});

const of = (key: string): Address => [account.name, key];
const paid = (amount: number) => ({ name: 'golden/Paid@1', value: { amount } });
const ordered = (to: string, amount: number) => ({ name: 'golden/Ordered@1', value: { to, amount } });
const empty = (name: string) => ({ name, value: {} });

/** Reducers alone. */
export const counterWorld: GoldenWorld = {
  name: 'counter',
  app: defineApp({ reducers: [account] }),
  cells: [of('a'), of('b'), of('c'), of('größe/İ')],
  logs: [[of('a'), 'moves']],
  async run(fixed) {
    const { clock } = fixed;
    const options = { ...fixed, app: this.app, snapshotEvery: 0, recheckEvery: 1 };
    const first = await openKernelWorld(options);
    for (const key of ['a', 'b', 'größe/İ']) await first.request(of(key), empty('golden/Opened@1'));
    for (let i = 1; i <= 70; i++) await first.request(of('a'), paid(i));
    await first.request(of('a'), ordered('b', 300));
    await first.request(of('a'), ordered('c', 2_000)); // rejected: it is too much
    await first.request(of('a'), empty('golden/Counted@1'));
    await clock.advance(150_000);
    await first.snapshot();
    await first.request(of('b'), ordered('a', 1_000)); // overdrawn: its next interest fails it
    await clock.advance(60_000);
    await first.close();
    const second = await openKernelWorld(options);
    await second.revive(of('b'), { id: 'revived' });
    await second.request(of('c'), paid(5));
    await second.request(of('c'), empty('golden/Closed@1'));
    await second.request(of('c'), empty('golden/Opened@1'), { as: 'human:ayşe' });
    await clock.advance(60_000);
    await second.close();
  },
};

/** The address of an account, as people see it. */
export const accountOf = (key: string): string => formatAddress(of(key));
