import { memory, openKernelWorld, type Store, verifyStore } from '@reprise/kernel';
import { beforeAll, describe, expect, it } from 'vitest';
import { pureCode, sandbox } from '../src/index.js';
import { one, two } from './apps/counter.js';
import { bank, bundleOf, bundleOfMutant, count, forged, refusal, replayAlone, worldWith } from './worlds.js';

let code1: Uint8Array;
let code2: Uint8Array;

beforeAll(async () => {
  code1 = await bundleOf('one');
  code2 = await bundleOf('two');
});

/** Two eras, the second of a version that migrates; each carries its code. */
async function twoEras(): Promise<Store> {
  const store = await worldWith(pureCode(code1));
  await using world = await openKernelWorld({ store, app: two, code: pureCode(code2), adapters: [bank] });
  await count(world, 2);
  await world.snapshot();
  await count(world, 2, 3);
  return store;
}

describe('given a world whose eras carry their code', () => {
  it('a world with its code replays every frame of two versions without an app, and names the code [RPL-22]', async () => {
    const store = await twoEras();
    const alone = await replayAlone(store);
    expect(alone.unverified).toBe(0);
    expect(alone.replayed).toBe(alone.frames);
    expect(alone.eras.map(({ status, code }) => [status, code?.length])).toEqual([
      ['replayed', 64],
      ['replayed', 64],
    ]);
    // The same journal, and the same blobs are accounted for, as with the apps themselves.
    const withApps = await verifyStore(await store.openReadonly(), { app: two, legacy: [one] });
    expect({ ...alone, eras: [] }).toEqual({ ...withApps, eras: [] });
  });

  it('verification lists what the logs of a world are made of, as the apps themselves do [RPL-22]', async () => {
    const store = memory();
    {
      await using world = await openKernelWorld({ store, app: one, code: pureCode(code1), adapters: [bank] });
      await count(world, 1, 100); // so that each of three logs has a sealed chunk
    }
    const [alone, withApp] = [await replayAlone(store), await verifyStore(await store.openReadonly(), { app: one })];
    expect(alone.blobs).toBeGreaterThan(3);
    expect({ ...alone, eras: [] }).toEqual({ ...withApp, eras: [] });
  });

  it('carried code does not run unless it is requested: its frames are unverified as before [RPL-22]', async () => {
    const store = await worldWith(forged('throw new Error("it runs");'));
    const { replayed, eras } = await verifyStore(await store.openReadonly());
    expect([replayed, eras.map(({ status, code }) => [status, code])]).toEqual([0, [['unverified', undefined]]]);
    expect((await refusal(replayAlone(store))).what).toContain('it runs');
  });

  it('eras without code replay with the given apps, next to eras with code', async () => {
    const store = await worldWith(pureCode(code1));
    for (const code of [undefined, pureCode(code2)]) {
      await using world = await openKernelWorld({ store, app: two, adapters: [bank], ...(code && { code }) });
      await count(world, 2);
      await world.snapshot();
    }
    const alone = await replayAlone(store);
    expect(alone.eras.map(({ status }) => status)).toEqual(['replayed', 'unverified', 'replayed']);
    const both = await verifyStore(await store.openReadonly(), { app: two, code: sandbox() });
    expect(both.eras.map(({ status, code }) => [status, code !== undefined])).toEqual([
      ['replayed', true],
      ['replayed', false],
      ['replayed', true],
    ]);
  });

  it('verification finds code that decides otherwise, at the frame and the record', async () => {
    const error = await refusal(replayAlone(await worldWith(forged(await bundleOfMutant('more = 1;')))));
    expect([error.code, error.details.where]).toEqual([
      'replay_divergence',
      expect.stringMatching(/^frame 1, record 2 \(state\), .*state\.count$/),
    ]);
    expect(error.details.hint).not.toContain('reached for');
  });
});

describe('given code to record', () => {
  it('code that defines something else than the app is refused, and nothing is written [RPL-23]', async () => {
    const store = memory();
    const error = await refusal(openKernelWorld({ store, app: one, code: pureCode(code2) }));
    expect([error.code, error.details.expected, error.details.actual]).toEqual([
      'code_mismatch',
      'demo/Counter@1',
      'demo/Counter@2',
    ]);
    expect((await (await store.openReadonly()).journal.head()).seq).toBe(-1);
  });

  it('code that does not load, that is not code, or that is too large is refused', async () => {
    const open = (code: unknown) => refusal(openKernelWorld({ store: memory(), app: one, code: code as never }));
    const text = (rest: string) => pureCode(new TextEncoder().encode(rest));
    expect((await open(text('// reprise pure code 1\nexports.app = 1;'))).what).toContain('exports no app');
    expect((await open(text('// reprise pure code 1\n}'))).what).toContain('does not parse');
    expect((await open(text('exports.app = 1;'))).code).toBe('code_failed');
    expect((await open(pureCode(Uint8Array.of(0xff)))).code).toBe('code_failed');
    expect((await open({ bytes: new Uint8Array(5_000_000), pins: async () => ({}) })).code).toBe('bound_exceeded');
    expect((await open(code1)).code).toBe('invalid_argument');
  });

  it('recorded code is loaded once, for any number of worlds', async () => {
    const code = pureCode(code1);
    expect(await code.pins()).toBe(await code.pins());
  });
});

describe('given a file that was changed', () => {
  it('an era is refused when its code defines something else than its manifest pins [RPL-23]', async () => {
    const error = await refusal(replayAlone(await worldWith(forged(code2))));
    expect([error.code, error.details.where]).toEqual(['code_mismatch', 'frame 0, $.code']);
  });
});
