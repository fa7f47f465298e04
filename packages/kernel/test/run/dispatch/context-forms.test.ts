/** The forms in which adapters hand their context on: a plain object, with a signal that is made when it is asked for. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  type AdapterContext,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  openKernelWorld,
} from '../../../src/index.js';

const none = z.strictObject({});
const look = defineEffect({ kind: 'forms.look@1', params: none, receipt: none });
const looking = definePlan({
  name: 'forms/looking@1',
  input: none,
  effects: [look],
  *run(_input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(look, {}));
  },
});
const asker = defineReducer({
  name: 'forms/Asker@1',
  state: none,
  events: { 'forms/Asked@1': creates(none) },
  init: () => ({}),
  reduce: (_draft, _event, ctx) => void ctx.emit({ plan: looking, input: {} }),
});
const app = defineApp({ reducers: [asker], plans: [looking] });

/** Executes one effect, and gives what its adapter makes of its context. */
async function executing<T>(use: (context: AdapterContext) => T): Promise<Awaited<T>> {
  let used: T | undefined;
  const doExecute = async (_params: object, context: AdapterContext) => {
    used = await use(context);
    return { status: 'ok' as const, payload: {} };
  };
  await using world = await openKernelWorld({
    store: memory(),
    app,
    adapters: [{ effect: look, name: 'looker', doExecute }],
  });
  await world.request(['forms/Asker@1', 'a'], { name: 'forms/Asked@1', value: {} });
  await world.pump();
  return (await used) as Awaited<T>;
}

describe('the context of an adapter', () => {
  const forms: readonly [how: string, of: (context: AdapterContext) => AdapterContext][] = [
    ['itself', (context) => context],
    ['spread', (context) => ({ ...context })],
    ['a base of another object', (context) => Object.create(context) as AdapterContext],
    ['behind a proxy', (context) => new Proxy(context, {})],
  ];

  it.each(forms)(
    'a context %s has the same signal each time, and functions that need no receiver',
    async (_how, of) => {
      const seen = await executing(async (context) => {
        const form = of(context);
        const { now, progress, content, observe, report } = form;
        progress({ type: 'delta', text: 'a' });
        observe?.({ model: 'm' } as never);
        report?.(new Error('seen'));
        const ref = await content.put(new Uint8Array([1]));
        return {
          signal: [form.signal, form.signal].every((one) => one === context.signal && !one.aborted),
          time: typeof now?.(),
          has: await content.has(ref),
          scrubbed: form.wasScrubbed?.(ref),
        };
      });
      expect(seen).toEqual({ signal: true, time: 'number', has: true, scrubbed: false });
    },
  );

  it('a context shows nothing of the kernel: its names are those of the port', async () => {
    const names = await executing((context) => Reflect.ownKeys({ ...context }));
    expect(names.every((name) => typeof name === 'string')).toBe(true);
    for (const name of ['toldAll', 'reported', 'observed']) expect(names).not.toContain(name);
  });
});
