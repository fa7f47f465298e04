/** Misspelled options of requests, which untyped callers write. */
import * as z from '@reprise/contracts/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memory, openKernelWorld, type World } from '../../../../src/index.js';
import { creates, defineApp, defineReducer } from '../../../../src/pure/define/index.js';
import { requireAsking } from '../../../../src/run/world/ask/requests.js';

const box = defineReducer({
  name: 'test/Box@1',
  state: z.strictObject({}),
  events: { 'test/Made@1': creates(z.strictObject({})) },
  init: () => ({}),
  reduce: () => undefined,
});
const EFFECT = '0'.repeat(64);
let world: World;

beforeAll(async () => {
  world = await openKernelWorld({ store: memory(), app: defineApp({ reducers: [box] }) });
});
afterAll(() => world.close());

const CALLS: readonly [name: string, call: (world: World, options: never) => Promise<unknown>, expected: string][] = [
  [
    'request',
    (w, o) => w.request(['test/Box@1', 'a'], { name: 'test/Made@1', value: {} }, o),
    'id, as, actor, traceparent',
  ],
  ['command', (w, o) => w.command('sys/Cancel@1', { effect: EFFECT }, o), 'id, as'],
  ['decide', (w, o) => w.decide(EFFECT, { approve: false }, o), 'id, as, actor, reason_ref'],
  ['settle', (w, o) => w.settle(EFFECT, { status: 'ok', payload: {} }, o), 'id, as, actor, reason_ref'],
  ['cancel', (w, o) => w.cancel(EFFECT, o), 'id, as, actor, graceMs'],
  ['erase', (w, o) => w.erase({ refs: [] }, o), 'id, as, reason'],
];

describe('the options of a request', () => {
  it.each(CALLS)(
    '%s refuses a misspelled option, says which there are, and writes nothing',
    async (_name, call, expected) => {
      const before = world.head;
      await expect(call(world, { ad: 'human:ann' } as never)).rejects.toThrow(
        `invalid_argument: unknown option "ad" of a request; expected ${expected}; got ad. Did you mean "`,
      );
      expect(world.head).toEqual(before);
    },
  );

  it('a value that throws while it is read is refused as an argument, whatever it throws', async () => {
    for (const error of [new RangeError('not read'), new TypeError('not read')]) {
      const thrower = () => {
        throw error;
      };
      const value = new Proxy({}, { getPrototypeOf: thrower, ownKeys: thrower });
      const asked = world.request(['test/Box@1', 'a'], { name: 'test/Made@1', value: value as never });
      await expect(asked).rejects.toThrow('invalid_argument: the value of test/Made@1 cannot be read');
    }
  });

  it.each<[string, object]>([
    ['an id', { id: 'a\ud800' }],
    ['a principal', { as: 'human:a\ud800' }],
  ])('%s that is no well-formed text is refused as one, and nothing is written', async (_what, options) => {
    const before = world.head;
    const asked = world.request(['test/Box@1', 'a'], { name: 'test/Made@1', value: {} }, options as never);
    await expect(asked).rejects.toThrow('invalid_value: text with a lone surrogate is not a value; at $;');
    expect(() => requireAsking('id', 'human:a')).not.toThrow();
    const { id = 'id', as = 'human:a' } = options as { id?: string; as?: string };
    expect(() => requireAsking(id, as)).toThrow('a lone surrogate');
    expect(world.head).toEqual(before);
  });
});
