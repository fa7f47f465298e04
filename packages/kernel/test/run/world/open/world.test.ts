import { type IngressRecord, isFields, Ref } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../../conformance/part.js';
import { type Adapter, memory, openKernelWorld, putValue, type Store, type World } from '../../../../src/index.js';
import { closeSound, codeOf, expectSound, framesOf, recordsOf, refusal } from '../../../support/judge.js';
import { add, ask, cell, ILLEGAL, illegal, lab, numberOf, once, start, wake } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { expectRefused, JUNK, verdictOn } from '../ask/junk.js';

const { app } = lab({
  *call(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input));
  },
});

/** Asks for a world with something wrong, on a store that must not notice. */
async function opening(change: object, touches = false): Promise<World> {
  const store = memory();
  try {
    const world = await openKernelWorld({ store, app, ...change } as never);
    await ask(world, 'x', [add(1)]);
    await world.close();
    await expectSound((change as { store?: Store }).store ?? store, app);
    return world;
  } catch (error) {
    if (!touches) expect(await codeOf(store.openReadonly()), 'the store was touched').toBe('world_absent');
    throw error;
  }
}

describe('given invalid options', () => {
  it('a world with any invalid option is not opened, and the store is not used [REQ-9]', async () => {
    const noFunction = (junk: unknown) => (typeof junk === 'function' ? undefined : junk);
    const functions = ['undefined', 'a function', 'a class'];
    await expectRefused((junk) => openKernelWorld(junk as never), 'openWorld');
    await expectRefused((junk) => opening({ store: junk }), 'store');
    await expectRefused((junk) => opening({ app: junk }), 'app');
    await expectRefused((junk) => opening({ drive: junk }), 'drive', ['undefined']);
    await expectRefused((junk) => opening({ snapshotEvery: junk }), 'snapshotEvery', ['undefined', 'zero', 'one']);
    await expectRefused((junk) => opening({ recheckEvery: junk }), 'recheckEvery', ['undefined', 'zero', 'one']);
    await expectRefused((junk) => opening({ adapters: junk }), 'adapters', ['undefined', 'no list']);
    await expectRefused((junk) => opening({ adapters: [junk] }), 'an adapter');
    await expectRefused((junk) => opening({ policy: junk }), 'policy', ['undefined', 'no list']);
    await expectRefused((junk) => opening({ policy: [junk] }), 'a rule');
    await expectRefused((junk) => opening({ policy: [{ effect: '*', decision: junk }] }), 'a decision');
    await expectRefused((junk) => opening({ policy: [{ effect: junk, decision: 'allow' }] }), 'a pattern', [
      'text',
      'a path',
      '__proto__',
      'constructor',
    ]);
    await expectRefused((junk) => opening({ secrets: junk }), 'secrets', functions);
    await expectRefused((junk) => opening({ onProgress: junk }), 'onProgress', functions);
    await expectRefused((junk) => opening({ clock: junk }), 'clock', ['undefined']);
    await expectRefused((junk) => opening({ random: noFunction(junk) }), 'random', functions);
  });

  it('a rule about events that can match none is refused, and one that names an event or ends with a star is not', async () => {
    const ruled = (send: string) => verdictOn(() => opening({ policy: [{ send, decision: 'allow' }] }, true), send);
    expect(await ruled('demo/Counter@1/a')).not.toContain('accepted');
    for (const send of ['demo/Counter@1/a#*', 'demo/Counter@1/a#demo/Add@1', 'demo/Counter@1/*'])
      expect(await ruled(send)).toContain('accepted');
  });

  it('a world is not created with an invalid random source', async () => {
    for (const [name, junk] of JUNK) {
      const verdict = await verdictOn(() => opening({ random: () => junk }, true), `random giving ${name}`);
      expect(verdict, name).not.toContain('accepted');
    }
    expect(await verdictOn(() => opening({ random: () => new Uint8Array(3) }, true), 'short chance')).not.toContain(
      'accepted',
    );
  });

  it('an invalid reading of the clock is refused, or its times can be read back', async () => {
    for (const wall of [Number.NaN, -1, Number.POSITIVE_INFINITY, 2 ** 60, 'now', undefined]) {
      const clock = { wall: () => wall as number, monotonic: () => 0, sleep: async () => undefined };
      await verdictOn(() => opening({ clock }, true), `a clock at ${String(wall)}`);
    }
  });

  it('an error about an invalid adapter names what is wrong', async () => {
    const whole = outside(once);
    const wrong: [string, Partial<Adapter>, string][] = [
      ['without a name', { name: '' }, 'invalid_name'],
      ["with the kernel's name", { name: 'kernel' }, 'invalid_name'],
      ["with the gate's name", { name: 'gate' }, 'invalid_name'],
      ['with a name that is too long', { name: 'n'.repeat(129) }, 'invalid_name'],
      ['with no room', { concurrency: 0 }, 'invalid_definition'],
      ['with half a place', { concurrency: 0.5 }, 'invalid_definition'],
      ['without execution', { doExecute: undefined as never }, 'invalid_argument'],
      ['bound to another definition', { effect: { ...whole.effect, digest: '0'.repeat(64) } }, 'invalid_definition'],
    ];
    for (const [what, change, code] of wrong) {
      expect(await verdictOn(() => opening({ adapters: [{ ...whole, ...change }] }), what), what).toBe(code);
    }
    expect(await verdictOn(() => opening({ adapters: [whole, outside(once)] }), 'twice')).toBe('duplicate_definition');
  });
});

describe('given an open world [REQ-9]', () => {
  async function given(): Promise<{ store: Store; world: World }> {
    const store = memory();
    const world = await openKernelWorld({ store, app, recheckEvery: 1 });
    await ask(world, 'x', [add(1)]);
    return { store, world };
  }

  it('a request with any invalid argument is refused and nothing is journaled', async () => {
    const { store, world } = await given();
    const { head } = world;
    const event = { name: 'lab/Do@1', value: { steps: [] } };
    await expectRefused((junk) => world.request(junk as never, event), 'to');
    await expectRefused((junk) => world.request([junk, 'x'] as never, event), 'a reducer');
    await expectRefused((junk) => world.request([cell('x')[0], junk] as never, event), 'a key', KEYS);
    await expectRefused((junk) => world.request(cell('x'), junk as never), 'an event');
    await expectRefused((junk) => world.request(cell('x'), { name: junk, value: { steps: [] } } as never), 'a name');
    await expectRefused((junk) => world.request(cell('x'), { name: 'lab/Do@1', value: junk } as never), 'a value');
    await expectRefused((junk) => world.request(cell('x'), { name: 'lab/Do@1', value: { steps: junk } }), 'steps', [
      'no list',
    ]);
    await expectRefused(
      (junk) => world.request(cell('x'), { name: 'lab/Do@1', value: { steps: [], more: junk } }),
      'more',
      ['undefined'],
    );
    await expectRefused((junk) => world.request(cell('x'), event, junk as never), 'options', OPTIONS);
    await expectRefused((junk) => world.request(cell('x'), event, { id: junk } as never), 'id', [
      'undefined',
      'null',
      ...TEXTS,
    ]);
    await expectRefused((junk) => world.request(cell('x'), event, { as: junk } as never), 'as', ['undefined', 'null']);
    const accepted = (await recordsOf(store, 'request')).length - 1;
    expect(world.head.seq - head.seq).toBe(accepted);
    expect(accepted).toBe(KEYS.length + OPTIONS.length + TEXTS.length + 6);
    await closeSound(world, store, app);
  });

  it('a request with a value that is not canonical is refused with the path', async () => {
    const { store, world } = await given();
    const { head } = world;
    for (const what of ILLEGAL.filter((kind) => kind !== 'bytes in state')) {
      const value = { steps: [['note', illegal(what)]] };
      const error = await refusal(world.request(cell('x'), { name: 'lab/Do@1', value }));
      expect(['invalid_value', 'bound_exceeded'], what).toContain(error.code);
      if (error.code === 'invalid_value') expect(String(error.details.where)).toContain('$.steps[0][1]');
    }
    expect(world.head).toEqual(head);
    await closeSound(world, store, app);
  });

  it('each frame names the principal of its input [REQ-8]', async () => {
    const store = memory();
    const adapter = outside(once);
    adapter.answerAll(() => ok({ got: 1 }));
    const world = await openKernelWorld({ store, app, adapters: [adapter], recheckEvery: 1 });
    const event = { name: 'lab/Do@1', value: { steps: [start('call', 1), wake('bell', 0)] } };
    await world.request(cell('x'), event, { as: 'human:ann' });
    await world.pump();
    await world.request(cell('x'), { ...event, value: { steps: [] } });
    await world.command('sys/SetAccount@1', { account: 'team', parent: null, limits: {} }, { as: 'operator' });
    const frames = await framesOf(store);
    const [effect] = await recordsOf(store, 'effect');
    const told = frames.map(([ingress]) => `${ingress?.kind} by ${(ingress as IngressRecord).principal}`);
    expect(told.sort()).toEqual([
      'command by operator',
      'manifest by operator',
      `receipt by adapter:${effect?.effect}`,
      'request by human:ann',
      'request by operator',
      'timer by kernel',
    ]);
    await closeSound(world, store, app);
  });

  it('a request in the name of the kernel, or with an event that only the kernel may send, is refused [REQ-8]', async () => {
    const { store, world } = await given();
    const { head } = world;
    const event = { name: 'lab/Do@1', value: { steps: [] } };
    for (const as of [
      'kernel',
      'Kernel',
      'host ',
      'human:',
      'cell:',
      'adapter:',
      'human:a\nb',
      `human:${'x'.repeat(600)}`,
    ]) {
      expect(await codeOf(world.request(cell('x'), event, { as: as as never })), as).toBe('invalid_argument');
    }
    const notice = { name: 'sys/TimerFired@1', value: { name: 'x', due: 1 } };
    expect(await codeOf(world.request(cell('x'), notice))).toBe('invalid_argument');
    expect(await codeOf(world.request(cell('x'), { name: 'sys/Unknown@1', value: {} }))).toBe('unknown_event');
    expect(world.head).toEqual(head);
    await closeSound(world, store, app);
  });

  it('a request that links missing content, or content that is not a value, is refused [CON-3]', async () => {
    const { store, world } = await given();
    const { head } = world;
    const raw = await world.content.put(Uint8Array.of(0xff));
    const linking = (ref: unknown) => ask(world, 'x', [['when', 'w', [['note', ref as never]]]]);
    expect(await codeOf(linking(Ref.fromHex('a'.repeat(64))))).toBe('blob_missing');
    expect(await codeOf(linking(Ref.fromHex('a'.repeat(64), 'value')))).toBe('blob_missing');
    expect(await codeOf(linking(raw.asValue()))).toBe('invalid_value');
    expect(world.head).toEqual(head);
    await linking(raw);
    await closeSound(world, store, app);
  });

  it('a request is refused when a link further down leads to missing content, at any depth [CON-3]', async () => {
    const { store, world } = await given();
    const [raw, none] = [await world.content.put(Uint8Array.of(0xff)), Ref.fromHex('a'.repeat(64))];
    const whole = await putValue(world.content, { raw });
    const linking = (ref: unknown) => ask(world, 'x', [['when', 'w', [['note', ref as never]]]]);
    for (const [inner, code] of [
      [none, 'blob_missing'],
      [none.asValue(), 'blob_missing'],
      [raw.asValue(), 'invalid_value'],
    ] as const) {
      const outer = await putValue(world.content, { deeper: await putValue(world.content, [whole, inner]) });
      expect(await codeOf(linking(outer)), code).toBe(code);
    }
    await linking(await putValue(world.content, [whole, { again: whole }]));
    await closeSound(world, store, app);
  });

  it('an erased value cannot be linked again, and a value that still contains it can [CON-3]', async () => {
    const { store, world } = await given();
    const inner = await putValue(world.content, 'inner');
    const outer = await putValue(world.content, { inner });
    const linking = (ref: unknown) => ask(world, 'x', [['when', 'w', [['note', ref as never]]]]);
    await linking(outer);
    await world.erase({ refs: [inner] });
    expect(await codeOf(linking(inner))).toBe('blob_erased');
    await linking(outer);
    await closeSound(world, store, app);
  });

  it('any other call with an invalid argument is refused, and nothing is journaled', async () => {
    const { store, world } = await given();
    const { head } = world;
    await expectRefused((junk) => world.state(junk as never), 'state');
    await expectRefused((junk) => world.state([cell('x')[0], junk] as never), 'state of a key', KEYS);
    await expectRefused((junk) => first(world.log(junk as never, 'history')), 'log');
    await expectRefused((junk) => first(world.log(cell('x'), junk as never)), 'log of a name', NAMES);
    await expectRefused((junk) => first(world.log(cell('x'), 'history', junk as never)), 'log from', [
      'undefined',
      'zero',
      'one',
    ]);
    await expectRefused((junk) => world.at(junk as never), 'at', ['zero', 'one']);
    await expectRefused((junk) => world.verify(junk as never), 'verify', ['undefined']);
    await expectRefused((junk) => firstOrEnd(world, junk), 'frames', ['undefined', 'zero', 'one']);
    await expectRefused((junk) => world.drain(junk as never), 'drain');
    await expectRefused((junk) => world.drain({ within: junk } as never), 'drain within', TIMES);
    await expectRefused((junk) => world.content.put(junk as never), 'put', ['bytes', 'a buffer']);
    await expectRefused((junk) => world.content.get(junk as never), 'get');
    await expectRefused((junk) => world.content.has(junk as never), 'has');
    expect(world.head).toEqual(head);
    await expectRefused((junk) => world.revive(junk as never), 'revive');
    expect(world.head).toEqual(head);
    await closeSound(world, store, app);
  });

  it('a read of an earlier state with invalid arguments is refused', async () => {
    const { store, world } = await given();
    const past = await world.at(1);
    await expectRefused((junk) => past.state(junk as never), 'state');
    await expectRefused((junk) => first(past.log(junk as never, 'history')), 'log');
    await expectRefused((junk) => first(past.log(cell('x'), junk as never)), 'log of a name', NAMES);
    await expectRefused((junk) => first(past.log(cell('x'), 'history', junk as never)), 'log from', [
      'undefined',
      'zero',
      'one',
    ]);
    await closeSound(world, store, app);
  });

  it('any random request, seed 20260101, is refused by a code or accepted, and the journal stays sound', async () => {
    const { store, world } = await given();
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    const call = fc.tuple(
      fc.oneof(
        anything,
        fc.tuple(fc.constantFrom(cell('x')[0], 'lab/Deaf@1', 'x'), fc.oneof(fc.string({ unit: 'binary' }), anything)),
      ),
      fc.oneof(
        anything,
        fc.record({
          name: fc.oneof(fc.constantFrom('lab/Do@1', 'lab/Got@1', 'sys/Revive@1'), anything),
          value: anything,
        }),
        fc.record({
          name: fc.constant('lab/Got@1'),
          value: fc.record({ what: fc.string({ unit: 'binary' }), value: anything }),
        }),
      ),
      fc.oneof(fc.constant({}), anything, fc.record({ id: fc.oneof(fc.string({ unit: 'binary' }), anything) })),
    );
    for (const [to, event, options] of fc.sample(call, { seed: 20_260_101, numRuns: 1_500 / stepOf(4) })) {
      const { head } = world;
      const verdict = await verdictOn(
        () => world.request(to as never, event as never, options as never),
        fc.stringify([to, event, options]),
      );
      if (!verdict.startsWith('accepted')) expect(world.head).toEqual(head);
    }
    expect(await numberOf(world, 'x')).toBe(1);
    await closeSound(world, store, app);
  });

  it('the adapter gets exactly the journaled parameters, whatever they are [EFF-5]', async () => {
    const adapter = outside(once);
    adapter.answerAll((params) => ok({ got: params }));
    const store = memory();
    const world = await openKernelWorld({ store, app, adapters: [adapter] });
    for (const input of [null, '', 0, [], {}, { a: [1, { b: 'é' }] }, Uint8Array.of(1)])
      await ask(world, 'x', [start('call', input)]);
    await world.pump();
    const journaled = (await recordsOf(store, 'effect')).map(({ params }) => params);
    expect(adapter.calls.map(({ params }) => params)).toEqual(journaled);
    await closeSound(world, store, app);
  });
});

/** Junk that is a cell's key, or text, or options, all the same. */
const TEXTS = ['text', 'a NUL', 'a path', '__proto__', 'constructor'];
const KEYS = TEXTS;
const TIMES = ['zero', 'one', 'a fraction', 'infinity', 'beyond integers'];
const NAMES = ['text', '__proto__', 'constructor'];
const OPTIONS = JUNK.filter(([, junk]) => junk === undefined || (isFields(junk) && statesNothing(junk))).map(
  ([name]) => name,
);

/** Whether an object states no option, known or unknown. */
function statesNothing(junk: object): boolean {
  return Object.values(junk).every((value) => value === undefined);
}

async function first(items: AsyncGenerator<unknown>): Promise<unknown> {
  return (await items.next()).value;
}

async function firstOrEnd(world: World, from: unknown): Promise<unknown> {
  const frames = world.frames(from as never);
  const { value } = await frames.next();
  await frames.return(undefined);
  return value;
}
