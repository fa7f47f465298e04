/** Traces that once broke an invariant, one each. Named by what must hold instead. */
import { mulDiv, NOTICES } from '@reprise/contracts';
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
  openKernelWorld,
  type World,
} from '../../../../src/index.js';
import { CLOCK_JUMP_LIMITS, Stamper } from '../../../../src/ports/time/stamper.js';

const CELL = 't/Cell@1';
const at = (key: string): [string, string] => [CELL, key];

const pay = defineEffect({
  kind: 't.pay@1',
  params: z.strictObject({ n: z.int() }),
  receipt: z.strictObject({ id: z.string() }),
});

const payPlan = definePlan({
  name: 't/pay_plan@1',
  input: z.strictObject({ n: z.int() }),
  effects: [pay],
  *run({ n }, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(pay, { n }));
    plan.raiseEvent({ name: 't/Paid@1', value: { n, id: receipt.payload?.id ?? receipt.status } });
  },
});

/** One reducer for all traces: what it does is said by the event. */
const cell = defineReducer({
  name: CELL,
  state: z.strictObject({ said: z.string(), n: z.int() }),
  events: {
    't/Pay@1': creates(z.strictObject({ n: z.int() })),
    't/Paid@1': z.strictObject({ n: z.int(), id: z.string() }),
    't/End@1': z.strictObject({}),
    't/Append@1': creates(z.strictObject({ how: z.enum(['rethrow', 'reject']) })),
    't/Relay@1': creates(z.strictObject({ to: z.string() })),
    't/Echo@1': creates(z.strictObject({ bytes: z.int(), times: z.int(), text: z.string() })),
    'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'],
  },
  logs: { items: z.int() },
  init: () => ({ said: '', n: 0 }),
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 't/Pay@1':
        ctx.emit({ plan: payPlan, input: event.value });
        return;
      case 't/Paid@1':
        if (event.value.n < 0) draft.n = mulDivOfTheStack();
        draft.said = `${event.value.n} got ${event.value.id}`;
        return;
      case 't/End@1':
        ctx.end();
        return;
      case 't/Append@1':
        try {
          ctx.append('items', draft.n);
          draft.n++;
        } catch {
          if (event.value.how === 'reject') ctx.reject('log_broken');
          throw new Error('cannot append');
        }
        return;
      case 't/Relay@1':
        ctx.send(at(event.value.to), { name: 't/Append@1', value: { how: 'rethrow' } });
        return;
      case 't/Echo@1':
        for (let i = 0; i < event.value.times; i++) {
          const text = 'x'.repeat(event.value.bytes);
          ctx.send(ctx.address, { name: 't/Echo@1', value: { ...event.value, text } });
        }
        return;
      case 'sys/PlanFailed@1':
        draft.said = `plan failed: ${event.value.code}`;
        return;
    }
  },
});

const app = defineApp({ reducers: [cell], plans: [payPlan] });

/** A RangeError such as the end of the stack is: the engine cannot tell them apart and must not try. */
function mulDivOfTheStack(): number {
  throw new RangeError('Maximum call stack size exceeded');
}

function payer(hold?: (n: number) => Promise<void>): Adapter<{ n: number }, { id: string }> {
  return {
    effect: pay,
    name: 'bank',
    doExecute: async ({ n }) => {
      await hold?.(n);
      return { status: 'ok', payload: { id: `paid ${n}` } };
    },
  };
}

async function saidBy(world: World, key: string): Promise<unknown> {
  return ((await world.state(at(key))) as { said: string } | undefined)?.said;
}

describe('given a cell that ends while its payment runs, and is made again', () => {
  it('a new await does not take the old receipt', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hold = async (n: number): Promise<void> => (n === 100 ? held : undefined);
    await using world = await openKernelWorld({ store: memory(), app, adapters: [payer(hold)], drive: 'manual' });
    await world.request(at('a'), { name: 't/Pay@1', value: { n: 100 } });
    const pumping = world.pump();
    await world.request(at('a'), { name: 't/End@1', value: {} });
    await world.request(at('a'), { name: 't/Pay@1', value: { n: 999 } });
    release();
    await pumping;
    await world.pump();
    expect(await saidBy(world, 'a')).toBe('999 got paid 999');
    await world.verify();
  });
});

describe('given a recipe that catches the request for an unloaded leaf and does something else', () => {
  it.each(['rethrow', 'reject'] as const)(
    'a cold cell (%s) leads to the same frame as a warm one [RED-14]',
    async (how) => {
      const store = memory();
      const heads: string[] = [];
      for (const cold of [false, true]) {
        const place = cold ? store : memory();
        const options = { store: place, app, random: (length: number) => new Uint8Array(length).fill(7) };
        let world = await openKernelWorld(options);
        await world.request(at('a'), { name: 't/Append@1', value: { how } });
        if (cold) {
          await world.snapshot();
          await world.close();
          world = await openKernelWorld(options);
        }
        await world.request(at('b'), { name: 't/Relay@1', value: { to: 'a' } }, { id: '2' });
        heads.push(JSON.stringify(await world.state(at('a'))));
        await world.verify();
        await world.close();
      }
      expect(heads[1]).toBe(heads[0]);
    },
  );
});

describe('given a cascade that feeds itself with large values', () => {
  it('a cascade beyond its bytes ends in faults, small frames and a usable world [RED-13]', async () => {
    await using world = await openKernelWorld({ store: memory(), app, recheckEvery: 0 });
    await world.request(at('a'), { name: 't/Echo@1', value: { bytes: 60_000, times: 15, text: '' } });
    const faults: string[] = [];
    let largest = 0;
    for await (const frame of world.frames(0)) {
      largest = Math.max(largest, JSON.stringify(frame.records).length);
      for (const record of frame.records) if (record.kind === 'fault') faults.push(record.code);
      if (frame.seq === world.head.seq) break;
    }
    expect(faults).toContain('cascade_exceeded');
    expect(world.head.seq).toBeLessThan(20);
    expect(largest).toBeLessThan(8_000_000);
    await world.request(at('b'), { name: 't/Append@1', value: { how: 'reject' } });
    await world.verify();
  });
});

describe('given a receipt whose folding exhausts the machine', () => {
  it('a receipt that exhausts the machine is quarantined, and its cell is notified and does not wait for ever [REC-5]', async () => {
    await using world = await openKernelWorld({ store: memory(), app, adapters: [payer()], drive: 'manual' });
    await world.request(at('a'), { name: 't/Pay@1', value: { n: -1 } });
    await world.pump();
    expect(await saidBy(world, 'a')).toBe('plan failed: exhausted');
    expect(await world.openEffects()).toEqual([]);
    await world.verify();
  });

  it('an overflow of integer arithmetic does not count as exhaustion', () => {
    expect(() => mulDiv(Number.MAX_SAFE_INTEGER, 2, 1)).toThrow(/invalid_argument/);
  });
});

describe('given the wrong app for a world with a snapshot', () => {
  it('an opening with the wrong app names the definitions and does not report damage [RPL-5]', async () => {
    const store = memory();
    {
      await using world = await openKernelWorld({ store, app });
      await world.request(at('a'), { name: 't/Append@1', value: { how: 'reject' } });
      await world.snapshot();
      await world.request(at('a'), { name: 't/Append@1', value: { how: 'reject' } });
    }
    await expect(openKernelWorld({ store, app: defineApp({ reducers: [] }) })).rejects.toThrow(
      /manifest_mismatch.*t\/Cell@1/s,
    );
  });
});

describe('given a policy that cannot be read back', () => {
  it('a world with such a policy is refused and nothing is written', async () => {
    const store = memory();
    const policy = [{ effect: '*', decision: 'maybe' as 'allow' }];
    await expect(openKernelWorld({ store, app, policy })).rejects.toThrow(/invalid_argument.*policy\[0\]/s);
    await using world = await openKernelWorld({ store, app });
    expect(world.head.seq).toBe(0);
  });
});

describe('given a wall clock that is behind', () => {
  it('time continues when frames come faster than milliseconds', () => {
    let monotonic = 0;
    const clock = { wall: () => 0, monotonic: () => monotonic, sleep: async () => undefined };
    const stamper = new Stamper({ clock, lastAt: 1_000, limits: CLOCK_JUMP_LIMITS });
    for (let i = 0; i < 10_000; i++) {
      monotonic += 0.1;
      stamper.stamp();
    }
    expect(stamper.last).toBeGreaterThanOrEqual(1_999);
  });
});
