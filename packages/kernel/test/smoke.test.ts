import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  type Adapter,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  openWorld,
} from '../src/index.js';

const double = defineEffect({
  kind: 'demo.double@1',
  params: z.strictObject({ n: z.int() }),
  receipt: z.strictObject({ n: z.int() }),
});
const plan = definePlan({
  name: 'demo/double_plan@1',
  input: z.strictObject({ n: z.int() }),
  effects: [double],
  *run(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(double, { n: input.n }));
    plan.raiseEvent({ name: 'demo/Doubled@1', value: { n: receipt.status === 'ok' ? receipt.payload.n : -1 } });
  },
});
const counter = defineReducer({
  name: 'demo/Counter@1',
  state: z.strictObject({ n: z.int(), fired: z.int() }),
  events: {
    'demo/Added@1': creates(z.strictObject({ by: z.int() })),
    'demo/Double@1': z.strictObject({}),
    'demo/Doubled@1': z.strictObject({ n: z.int() }),
    'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
  },
  logs: { history: z.int() },
  init: () => ({ n: 0, fired: 0 }),
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 'demo/Added@1':
        draft.n += event.value.by;
        ctx.append('history', draft.n);
        ctx.timer('t', ctx.now + 10);
        break;
      case 'demo/Double@1':
        ctx.emit({ plan, input: { n: draft.n } });
        break;
      case 'demo/Doubled@1':
        draft.n = event.value.n;
        break;
      case 'sys/TimerFired@1':
        draft.fired++;
        break;
    }
  },
});
const app = defineApp({ reducers: [counter], plans: [plan] });
const adapter: Adapter<{ n: number }, { n: number }> = {
  effect: double,
  name: 'doubler',
  doExecute: async ({ n }) => ({ status: 'ok', payload: { n: n * 2 } }),
};

describe('smoke', () => {
  it('runs and replays', async () => {
    const store = memory();
    const at = ['demo/Counter@1', 'a'] as [string, string];
    let head: string;
    {
      await using world = await openWorld({ store, app, adapters: [adapter], recheckEvery: 1 });
      for (let i = 0; i < 100; i++) await world.request(at, { name: 'demo/Added@1', value: { by: 1 } });
      await world.request(at, { name: 'demo/Double@1', value: {} });
      await new Promise((r) => setTimeout(r, 30));
      const report = await world.pump();
      expect(report.quiescent).toBe(true);
      expect(await world.state(at)).toMatchObject({ n: 200 });
      await world.snapshot();
      await world.request(at, { name: 'demo/Added@1', value: { by: 5 } });
      const v = await world.verify();
      console.log(v);
      head = v.head.digest;
      const items: unknown[] = [];
      for await (const item of world.log(at, 'history')) items.push(item);
      expect(items.length).toBe(101);
      expect(await (await world.at(50)).state(at)).toMatchObject({ n: 50 });
    }
    {
      await using world = await openWorld({ store, app, adapters: [adapter] });
      expect(world.head.digest).toBe(head);
      expect(await world.state(at)).toMatchObject({ n: 205 });
      await world.request(at, { name: 'demo/Added@1', value: { by: 5 } });
      console.log(await world.verify());
    }
  });
});
