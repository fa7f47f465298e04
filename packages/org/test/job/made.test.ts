/** Cells with fewer rights than their maker: they begin when the rights stand, or never. */
import {
  type Address,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  openKernelWorld,
} from '@reprise/kernel';
import { makeWithRights, makingEvents, makingNews, makingTables } from '@reprise/org';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const pay = defineEffect({
  kind: 'test.pay@1',
  params: z.strictObject({ tool: z.string() }),
  receipt: z.strictObject({}),
  rights: { tool: 'tool' },
});
const payPlan = definePlan({
  name: 'test/pay_plan@1',
  input: z.strictObject({ tool: z.string() }),
  effects: [pay],
  *run(input, plan) {
    const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(pay, input));
    plan.raiseEvent({ name: 'test/Paid@1', value: { how: code ?? status } });
  },
});
const worker = defineReducer({
  name: 'test/Worker@1',
  state: z.strictObject({ seen: z.array(z.string()) }),
  events: {
    'test/Made@1': creates(z.strictObject({})),
    'test/Pay@1': z.strictObject({ tool: z.string() }),
    'test/Paid@1': z.strictObject({ how: z.string() }),
  },
  init: () => ({ seen: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'test/Pay@1') ctx.emit({ plan: payPlan, input: event.value });
    if (event.name === 'test/Paid@1') draft.seen.push(event.value.how);
  },
});
const rights = z.strictObject({ tools: z.nullable(z.array(z.string())) });
const boss = defineReducer({
  name: 'test/Boss@1',
  state: z.strictObject({ news: z.array(z.string()) }),
  tables: makingTables,
  events: { 'test/Open@1': creates(z.strictObject({})), 'test/Hire@1': rights, ...makingEvents },
  init: () => ({ news: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'test/Open@1') return;
    if (event.name === 'test/Hire@1') {
      const exercise = event.value.tools === null ? null : { may: { tool: event.value.tools } };
      makeWithRights(ctx, {
        to: WORKER,
        making: { name: 'test/Made@1', value: {} },
        rights: { exercise },
        first: { name: 'test/Pay@1', value: { tool: 'web' } },
        tag: 'worker',
      });
      return;
    }
    const news = makingNews(ctx, event);
    if (news !== undefined && news !== 'other') draft.news.push(news.made ? 'made' : news.code);
  },
});

const BOSS: Address = ['test/Boss@1', 'b'];
const WORKER: Address = ['test/Worker@1', 'w'];

async function hired(tools: readonly string[] | null, given?: { readonly tool: readonly string[] }) {
  await using world = await openKernelWorld({
    store: memory(),
    app: defineApp({ reducers: [boss, worker], plans: [payPlan] }),
    adapters: [{ effect: pay, name: 'pay', doExecute: async () => ({ status: 'ok', payload: {} }) }],
  });
  await world.request(BOSS, { name: 'test/Open@1', value: {} });
  const holder = 'cell:test/Boss@1/b' as const;
  if (given !== undefined)
    await world.command('sys/SetRights@1', { holder, grant: { may: { tool: [...given.tool] } } });
  await world.request(BOSS, { name: 'test/Hire@1', value: { tools: tools === null ? null : [...tools] } });
  await world.pump();
  await world.verify();
  const { news } = (await world.state(BOSS)) as unknown as { news: string[] };
  const made = (await world.state(WORKER)) as unknown as { seen: string[] } | null;
  return { news, seen: made?.seen };
}

describe('given a cell that is made with rights', () => {
  it('the cell begins under the rights that it was given', async () => {
    expect(await hired(['web'])).toEqual({ news: ['made'], seen: ['ok'] });
    expect(await hired(['mail'])).toEqual({ news: ['made'], seen: ['cap_denied'] });
  });

  it('the cell never begins when its maker may not give these rights', async () => {
    const { news, seen } = await hired(['web'], { tool: ['mail'] });
    expect(news).not.toEqual(['made']);
    expect(seen).toEqual([]);
  });
});
