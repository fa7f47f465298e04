/** What an adapter states of its execution stands on the receipt, whatever the outcome. */
import type { Receipt } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { type AdapterContext, memory, openKernelWorld } from '../../../src/index.js';
import { recordsOf } from '../../support/judge.js';
import { ask, lab, once, start, tellCell } from '../../support/lab.js';
import { ok } from '../../support/outside.js';

const asked = { profile: 'house', model: 'large', provider: 'house-inc', server: 'api.house.example' };

const { app } = lab({
  *call(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input, { timeoutMs: 60_000 }));
    tellCell(plan, 'got', JSON.stringify(receipt.asked ?? null));
  },
  *callFor2s(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input, { timeoutMs: 2_000 }));
  },
});

/** The receipts of one call, its late answers included. */
async function receiptsOf(
  doExecute: (context: AdapterContext) => unknown,
  { secret = 'sk-0123456789', plan = 'call' }: { readonly secret?: string; readonly plan?: 'call' | 'callFor2s' } = {},
): Promise<Receipt[]> {
  const store = memory();
  const adapter = {
    effect: once as never,
    name: 'house',
    doExecute: async (_: never, context: AdapterContext) => (await doExecute(context)) as never,
  };
  await using world = await openKernelWorld({ store, app, adapters: [adapter], secrets: async () => secret });
  await ask(world, 'x', [start(plan)]);
  await expect.poll(async () => (await recordsOf(store, 'receipt')).length).toBeGreaterThan(0);
  await world.close();
  return (await recordsOf(store, 'receipt')).map(({ receipt }) => receipt);
}

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Outcomes of an adapter that states whom it asks first. */
const OUTCOMES: readonly (readonly [string, Receipt['status'], () => unknown])[] = [
  ['an answer', 'ok', () => ok({ got: 1 })],
  ['a failure', 'error', () => ({ status: 'error', code: 'provider_error_terminal/auth' })],
  ['a payload that breaks its schema', 'error', () => ok({ had: 1 })],
  ['its own timeout', 'timeout', () => ({ status: 'timeout' })],
  ['a cancellation', 'cancelled', () => ({ status: 'cancelled' })],
  ['an unknown outcome', 'outcome_unknown', () => ({ status: 'outcome_unknown' })],
  ['nothing that is an outcome', 'outcome_unknown', () => 7],
  ['an exception', 'error', () => Promise.reject(new Error('a defect'))],
];

describe('what an adapter states of its execution', () => {
  it.each(OUTCOMES)(
    'given %s, it stands on the receipt, whose status is %s [EFF-27]',
    async (_what, status, answer) => {
      const receipts = await receiptsOf((context) => {
        context.observe?.({ asked });
        return answer();
      });
      expect(receipts).toMatchObject([{ status, asked }]);
    },
  );

  it('given an adapter that exceeds its deadline, it stands on the receipt of the kernel and on the late answer [EFF-27]', async () => {
    const late = async (context: AdapterContext) => {
      context.observe?.({ asked });
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      await later(90);
      return ok({ got: 1 });
    };
    expect(await receiptsOf(late, { plan: 'callFor2s' })).toMatchObject([
      { adapter: 'kernel', status: 'timeout', asked },
      { adapter: 'house', status: 'ok', asked },
    ]);
  });

  it('an outcome states it as well, and what comes later replaces it field by field [EFF-27]', async () => {
    const other = { profile: 'house', model: 'small' };
    const [receipt] = await receiptsOf((context) => {
      context.observe?.({ asked });
      context.observe?.({ first_chunk_ms: 3 });
      return { ...ok({ got: 1 }), asked: other, response_model: 'small-2026' };
    });
    expect(receipt).toMatchObject({ status: 'ok', asked: other, response_model: 'small-2026', first_chunk_ms: 3 });
  });

  it('what does not fit a receipt is left out, and takes nothing else away [EFF-27]', async () => {
    const wrong = { asked: { profile: '', model: 'm' }, first_chunk_ms: -1, response_model: 7, more: 'x' };
    const [receipt] = await receiptsOf((context) => {
      context.observe?.(wrong as never);
      context.observe?.(null as never);
      context.observe?.({ response_model: 'large-2026' });
      return { ...ok({ got: 1 }), first_chunk_ms: 'soon' };
    });
    expect(receipt).toEqual({
      ...{ adapter: 'house', attempts: 1, status: 'ok', payload: { got: 1 } },
      response_model: 'large-2026',
    });
  });

  it('what does not fit without its secrets is left out, and all else stands [EFF-27, CON-16]', async () => {
    const [receipt] = await receiptsOf(
      async (context) => {
        await context.secret('KEY');
        context.observe?.({ asked, response_model: 'large-2' });
        return ok({ got: 1 });
      },
      { secret: 'provider' }, // the name of a field
    );
    expect(receipt?.asked).toBeUndefined();
    expect(receipt?.response_model).toBe('large-2');
  });

  it('an adapter that states nothing leaves no field, not even an empty one [EFF-27]', async () => {
    const [receipt] = await receiptsOf(() => ok({ got: 1 }));
    expect(Object.keys(receipt ?? {}).sort()).toEqual(['adapter', 'attempts', 'payload', 'status']);
  });

  it('a secret in it is removed [EFF-27, CON-16]', async () => {
    const key = 'sk-0123456789abcdef';
    const [receipt] = await receiptsOf(
      async (context) => {
        await context.secret('KEY');
        context.observe?.({ asked: { profile: 'house', model: `m-${key}` }, response_model: key });
        return ok({ got: 1 });
      },
      { secret: key },
    );
    expect(JSON.stringify(receipt)).not.toContain(key);
    expect(receipt?.asked?.profile).toBe('house');
  });
});
