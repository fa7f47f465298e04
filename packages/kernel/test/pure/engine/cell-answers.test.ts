/** How a cell tells the answers to its events and commands apart, and what else its context tells it. */
import { type Address, NOTICES, type Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { describe, expect, it } from 'vitest';
import {
  type AdapterContext,
  encode,
  memory,
  openKernelWorld,
  portableSha256,
  toHex,
  verifyStore,
} from '../../../src/index.js';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  type EventSendOptions,
} from '../../../src/pure/define/index.js';

const ASKER: Address = ['test/Asker@1', 'a'];
const OTHER: Address = ['test/Other@1', 'o'];

const work = defineEffect({ kind: 'test.work@1', params: z.strictObject({}), receipt: z.strictObject({}) });
const working = definePlan({
  name: 'test/Working@1',
  input: z.strictObject({}),
  effects: [work],
  *run(_input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(work, {}));
  },
});

/** Sends so many events, each of which says whether it is rejected. */
const sends = z.strictObject({
  rejected: z.array(z.boolean()),
  reply: z.union([z.boolean(), z.literal('refusal')]),
  tagged: z.boolean(),
});

const asker = defineReducer({
  name: ASKER[0],
  state: z.strictObject({ told: z.array(z.string()) }),
  events: {
    'test/Sends@1': creates(sends),
    'test/Commands@1': creates(z.strictObject({})),
    'test/Works@1': creates(z.strictObject({})),
    'test/Looks@1': creates(z.strictObject({})),
    'sys/Reply@1': NOTICES['sys/Reply@1'],
    'sys/CommandRefused@1': NOTICES['sys/CommandRefused@1'],
  },
  init: () => ({ told: [] }),
  reduce(draft, { name, value }, ctx) {
    if (name === 'test/Sends@1') {
      for (const [i, reject] of value.rejected.entries()) {
        const options: EventSendOptions = { reply: value.reply, ...(value.tagged ? { tag: `${i}` } : {}) };
        ctx.send(OTHER, { name: 'test/Take@1', value: { reject } }, options);
      }
    } else if (name === 'test/Commands@1') {
      // The rights of another cell that is not below this one may not be set; its own account is unknown.
      ctx.command('sys/SetRights@1', { holder: `cell:${OTHER.join('/')}`, approved: [] }, { tag: 'first' });
      ctx.command('sys/Cancel@1', { effect: '0'.repeat(64) }, { tag: 'second' });
    } else if (name === 'test/Works@1') ctx.emit({ plan: working, input: {} });
    else if (name === 'test/Looks@1') {
      draft.told.push(`adapter ${ctx.adapter === null ? 'none' : ctx.adapter.join(' ')}`);
      draft.told.push(`takes ${ctx.takes(OTHER, 'test/Take@1')} ${ctx.takes(OTHER, 'test/Else@1')}`);
      draft.told.push(`hash ${ctx.hash({ b: [1, 'ü'], a: null })}`);
    } else if (name === 'sys/Reply@1')
      draft.told.push(`${value.tag ?? 'untagged'} ${value.outcome} ${value.code ?? ''}`.trim());
    else draft.told.push(`${value.tag ?? 'untagged'} ${value.code}`);
  },
});

const other = defineReducer({
  name: OTHER[0],
  state: z.strictObject({ taken: z.int() }),
  events: { 'test/Take@1': creates(z.strictObject({ reject: z.boolean() })) },
  init: () => ({ taken: 0 }),
  reduce(draft, { value }, ctx) {
    if (value.reject) ctx.reject('no');
    draft.taken++;
  },
});

const app = defineApp({ reducers: [asker, other], plans: [working] });

/** Works until it is stopped. */
function endless(_params: unknown, { signal }: AdapterContext): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

/** What the asker was told after a request, in a world that is replayed. */
async function told(name: string, value: Value, as?: (effect: string) => `adapter:${string}`): Promise<string[]> {
  const store = memory();
  const adapters = [{ effect: work, name: 'test', doExecute: endless }];
  const world = await openKernelWorld({ store, app, adapters, recheckEvery: 1 });
  if (as !== undefined) await world.request(ASKER, { name: 'test/Works@1', value: {} });
  const [open] = await world.openEffects();
  await world.request(ASKER, { name, value }, open === undefined || as === undefined ? {} : { as: as(open.effect) });
  if (as === undefined) await world.pump();
  const state = (await world.state(ASKER)) as unknown as { told: string[] };
  await world.drain({ within: 0 });
  await world.close();
  const reader = await store.openReadonly();
  expect((await verifyStore(reader, { app })).unverified).toBe(0);
  await reader.close();
  return state.told;
}

describe('the answers to events that a cell sends', () => {
  it('an answer repeats the tag of its event [RED-32]', async () => {
    expect(await told('test/Sends@1', { rejected: [false, true], reply: true, tagged: true })).toEqual([
      '0 accepted',
      '1 rejected no',
    ]);
  });

  it('an event that is to be answered only when refused is not answered when it takes place [RED-32]', async () => {
    expect(await told('test/Sends@1', { rejected: [false, true, false], reply: 'refusal', tagged: true })).toEqual([
      '1 rejected no',
    ]);
  });

  it('tags and terms of answers outlive the frame of a cascade that goes on in further frames [RED-32]', async () => {
    const rejected = Array.from({ length: 700 }, (_, i) => i % 100 === 99);
    expect(await told('test/Sends@1', { rejected, reply: 'refusal', tagged: true })).toEqual(
      [99, 199, 299, 399, 499, 599, 699].map((i) => `${i} rejected no`),
    );
  });

  it('an answer without a tag has none, as before', async () => {
    expect(await told('test/Sends@1', { rejected: [true], reply: true, tagged: false })).toEqual([
      'untagged rejected no',
    ]);
  });

  it('the notice of a refused command repeats the tag of the command [RED-33]', async () => {
    expect((await told('test/Commands@1', {})).map((line) => line.split(' ')[0])).toContain('second');
  });
});

describe('what a delivery is told', () => {
  it('a cell is told the plan for whose open effect an adapter sends an event, and of no other sender [RED-34]', async () => {
    expect((await told('test/Looks@1', {}))[0]).toBe('adapter none');
    expect((await told('test/Looks@1', {}, (effect) => `adapter:${effect}`))[0]).toBe('adapter test/Asker@1 a 0');
  });

  it('a cell can ask whether another reducer takes an event, and hashes values as the kernel does', async () => {
    const digest = toHex(portableSha256(encode({ a: null, b: [1, 'ü'] })));
    expect((await told('test/Looks@1', {})).slice(1)).toEqual(['takes true false', `hash ${digest}`]);
  });
});
