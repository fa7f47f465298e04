import type { PolicyRule, Receipt, Value } from '@reprise/contracts';
import { VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { type Adapter, memory, openKernelWorld, type World } from '../../../src/index.js';
import {
  blobLinks,
  children,
  openEffects,
  openViews,
  touch,
  troubles,
  usageView,
  type Views,
} from '../../../src/serve/views/index.js';
import { until } from '../../support/judge.js';
import {
  add,
  again,
  ask,
  cell,
  end,
  fail,
  lab,
  log,
  note,
  once,
  send,
  start,
  tellCell,
  when,
} from '../../support/lab.js';

const ALL = [blobLinks, children, openEffects, touch, troubles, usageView];
const DAY = Math.floor(new VirtualClock().wall() / 86_400_000);

const { app } = lab({
  pay: function* (input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'paid', receipt.status);
  },
  ring: function* (input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(again, input));
  },
});

type Answer = Partial<Receipt> & { readonly status: 'ok' | 'error' };

type Body = (world: World, views: Views, hang: { release(): void }) => Promise<void>;

async function scene(body: Body, policy?: readonly PolicyRule[]): Promise<void> {
  let release = (): void => undefined;
  const hanging = new Promise<void>((resolve) => {
    release = resolve;
  });
  const pay: Adapter<Value, { got: Value }> = {
    effect: once,
    name: 'bank',
    doExecute: async (params) => (params as { readonly answer: Answer }).answer as never,
  };
  const ring: Adapter<Value, { got: Value }> = {
    effect: again,
    name: 'bell',
    doExecute: async (params, { ask: question }) => {
      const questions = params === 'questions' ? ['first', 'second'] : [];
      await Promise.all([hanging, ...questions.map((text) => question({ question: text, to: 'human:*' }))]);
      return { status: 'ok', payload: { got: 1 } };
    },
  };
  const clock = new VirtualClock();
  const rules = policy === undefined ? {} : { policy };
  await using world = await openKernelWorld({ store: memory(), app, adapters: [pay, ring], clock, ...rules });
  await using views = await openViews(world, ALL);
  try {
    await body(world, views, { release });
  } finally {
    release(); // the world waits for it when it closes
  }
  await views.caughtUp();
  expect((await views.verify()).differences).toEqual([]);
}

const paying = (usageOf: object): Value =>
  ({ answer: { status: 'ok', payload: { got: 1 }, usage: usageOf } }) as unknown as Value;

describe('the provided projections', () => {
  it('touch: the frames of a cell are exactly those whose records concern it [VIEW-11]', () =>
    scene(async (world, views) => {
      await ask(world, 'a', [add(1), send('b', add(2))]);
      await ask(world, 'c', [note('alone')]);
      await ask(world, 'b', [start('pay', paying({}))]);
      await world.pump();
      await views.caughtUp();
      const touched: number[] = [];
      for await (const { key } of views.view(touch).each({ under: [...cell('b')] }))
        touched.push([key].flat()[2] as number);
      const mentioned: number[] = [];
      for await (const { seq, records } of world.frames()) {
        if (JSON.stringify(records).includes('"b"')) mentioned.push(seq);
        if (seq === world.head.seq) break;
      }
      expect(touched.length).toBeGreaterThan(2);
      expect(touched).toEqual(expect.arrayContaining(mentioned));
      const first = await views.view(touch).get([...cell('b'), touched[0] ?? -1]);
      expect(first).toMatchObject({ kinds: ['event', 'state'], records: [1, 2] });
    }));

  it('open effects: an effect without a receipt is listed by cell and kind, and removed when it is settled [VIEW-11]', () =>
    scene(async (world, views, hang) => {
      await ask(world, 'a', [start('ring', 1)]);
      await views.caughtUp();
      const open = async () => (await views.view(openEffects).query({ index: 'kind' })).rows.map(({ row }) => row);
      expect((await open()).map(({ kind }) => kind)).toEqual((await world.openEffects()).map(({ name }) => name));
      expect(await open()).toMatchObject([{ kind: 'lab.again@1', key: 'a', attempts: 1, waits: 'receipt' }]);
      hang.release();
      await world.pump();
      await views.caughtUp();
      expect(await open()).toEqual([]);
    }));

  it('open effects: a question to people is listed until it has its answer [VIEW-11]', () =>
    scene(async (world, views, hang) => {
      await ask(world, 'a', [start('ring', 'questions')]);
      await until(async () => (await world.pending()).length === 2, 'both questions');
      const waiting = async () => {
        await views.caughtUp(world.head.seq);
        return (await views.view(openEffects).query({ index: 'waits', under: 'answer' })).rows.map(({ row }) => row);
      };
      expect(await waiting()).toMatchObject([{ kind: 'lab.again@1', to: 'human:*', asked: [0, 1] }]);
      for (const left of [[1], []]) {
        const [question] = await world.pending();
        await world.answer(question?.id as never, 'yes', { as: 'human:ann' });
        expect((await waiting()).map(({ asked }) => asked)).toEqual(left.length === 0 ? [] : [left]);
      }
      expect((await views.view(openEffects).query({ index: 'waits', under: 'receipt' })).rows).toHaveLength(1);
      hang.release();
      await world.pump();
    }));

  it('usage: receipts are summed by cell, by day and by kind [VIEW-11]', () =>
    scene(async (world, views) => {
      await ask(world, 'a', [start('pay', paying({ tokens_in: 5, micro_money: 7 }))]);
      await ask(world, 'b', [start('pay', paying({ tokens_in: 1, calls: 2 }))]);
      await ask(world, 'a', [start('pay', paying({}))]);
      await world.pump();
      await views.caughtUp();
      const view = views.view(usageView);
      expect(await view.get(['cell', ...cell('a')])).toMatchObject({ receipts: 2, tokens_in: 5, micro_money: 7 });
      expect(await view.get(['day', DAY])).toMatchObject({ receipts: 3, tokens_in: 6, calls: 2 });
      expect(await view.get(['kind', 'lab.once@1'])).toMatchObject({ receipts: 3 });
      expect(await view.get(['cell_day', ...cell('b'), DAY])).toMatchObject({ tokens_in: 1 });
    }));

  it('children: each cell is listed with its maker, in the order in which the cells were made [VIEW-11]', () =>
    scene(async (world, views) => {
      await ask(world, 'root', [send('x', send('leaf')), send('y')]);
      await ask(world, 'root', [send('x', add(1)), send('z')]);
      await views.caughtUp();
      const view = views.view(children);
      const under = async (parent: readonly string[]) =>
        (await view.query({ index: 'parent', under: parent })).rows.map(({ key }) => [key].flat()[1]);
      expect(await under(cell('root'))).toEqual(['x', 'y', 'z']);
      expect(await under(cell('x'))).toEqual(['leaf']);
      expect(await under([''])).toEqual(['root']);
    }));

  it('children: a cell that was made at a receipt has a parent; other things of a cell are not children [VIEW-11]', () =>
    scene(async (world, views) => {
      await ask(world, 'payer', [end()]);
      await ask(world, 'payer', [when('paid', send('receipt-book')), start('pay', paying({}))]);
      await world.pump();
      await views.caughtUp();
      const rows = (await views.view(children).query()).rows.map(({ key, row }) => [[key].flat()[1], row.parent?.[1]]);
      expect(rows).toEqual([
        ['payer', undefined],
        ['receipt-book', 'payer'],
      ]);
    }));

  it('troubles: a denied effect is a trouble of its cell, with the effect that was wanted [VIEW-11]', () =>
    scene(
      async (world, views) => {
        await ask(world, 'a', [start('pay', paying({}))]);
        await world.pump();
        await views.caughtUp();
        const { rows } = await views.view(troubles).query({ index: 'cell', under: [...cell('a')] });
        expect(rows.map(({ row }) => [row.kind, row.code, row.effect])).toEqual([
          ['denial', 'policy_denied', once.name],
        ]);
      },
      [{ effect: '*', decision: 'deny' }],
    ));

  it('troubles: faults and receipts that are not ok are listed by cell and by code [VIEW-11]', () =>
    scene(async (world, views) => {
      await ask(world, 'a', [send('b', fail())]);
      await ask(world, 'c', [start('pay', { answer: { status: 'error', code: 'adapter_error/bank' } })]);
      await world.pump();
      await views.caughtUp();
      const view = views.view(troubles);
      const codes = (await view.query()).rows.map(({ row }) => [row.kind, row.code, row.key]);
      expect(codes).toEqual([
        ['fault', 'threw', 'b'],
        ['receipt', 'adapter_error/bank', 'c'],
      ]);
      expect((await view.query({ index: 'cell', under: [...cell('c')] })).rows).toHaveLength(1);
      expect((await view.query({ index: 'code', under: 'threw' })).rows).toHaveLength(1);
    }));

  it('blob links: a cell is listed with the content that its events, effects and receipts link, and no other [VIEW-11]', () =>
    scene(async (world, views) => {
      const [ref, other] = [await world.content.put(Uint8Array.of(1)), await world.content.put(Uint8Array.of(2))];
      await ask(world, 'a', [log(ref), send('b', log(other))]);
      await views.caughtUp();
      const view = views.view(blobLinks);
      expect(await view.get([ref.hex, ...cell('a')])).toMatchObject({ kind: 'raw' });
      expect(await view.get([ref.hex, ...cell('b')])).toBeUndefined();
      expect(
        (await view.query({ index: 'cell', under: [...cell('b')] })).rows.map(({ key }) => [key].flat()[0]),
      ).toEqual([other.hex]);
    }));
});
