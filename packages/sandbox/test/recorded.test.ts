/** Code that a world is opened with: when it is recorded, how the world continues with it, and how it is erased. */
import { type IngressOf, isRef } from '@reprise/contracts';
import { forkWorld, getBytes, memory, openKernelWorld, readFrame, type Store, verifyStore } from '@reprise/kernel';
import { beforeAll, describe, expect, it } from 'vitest';
import { pureCode } from '../src/index.js';
import { one, two } from './apps/counter.js';
import { bank, bundleOf, count, forged, replayAlone, worldWith } from './worlds.js';

let code: Uint8Array;
beforeAll(async () => {
  code = await bundleOf('one');
});

async function manifestsOf(store: Store): Promise<IngressOf<'manifest'>[]> {
  const { journal } = await store.openReadonly();
  const manifests: IngressOf<'manifest'>[] = [];
  for await (const { bytes, seq } of journal.read(0)) {
    const { ingress } = readFrame(bytes, seq);
    if (ingress.kind === 'manifest') manifests.push(ingress);
  }
  return manifests;
}

/** The links of the code of each era, as letters in the order of their first mention; a dash for none. */
async function codesOf(store: Store): Promise<string> {
  const known: (string | undefined)[] = [undefined];
  return (await manifestsOf(store))
    .map(({ code: link }) => {
      if (!known.includes(link?.hex)) known.push(link?.hex);
      return '-abc'[known.indexOf(link?.hex)];
    })
    .join('');
}

const reopen = async (store: Store, more: Partial<Parameters<typeof openKernelWorld>[0]>) =>
  (await openKernelWorld({ store, app: one, adapters: [bank], ...more })).close();

describe('given code to open a world with', () => {
  it('the manifest links the exact bytes of the code, as content of the world', async () => {
    const store = await worldWith(pureCode(code));
    const [{ code: link } = {}] = await manifestsOf(store);
    expect(isRef(link)).toBe(true);
    const { content } = await store.openReadonly();
    expect(await getBytes(content, link!)).toEqual(code);
  });

  it('a world that is opened without code to record has no trace of it', async () => {
    const store = memory();
    await reopen(store, {});
    expect((await manifestsOf(store)).map((manifest) => Object.hasOwn(manifest, 'code'))).toEqual([false]);
  });

  it('the era continues when the code is the same or absent', async () => {
    const store = await worldWith(pureCode(code));
    await reopen(store, {});
    await reopen(store, { code: pureCode(code) });
    expect(await codesOf(store)).toBe('a');
  });

  it('code is proved only before it is recorded, so an opening that records nothing starts no process', async () => {
    const store = await worldWith(pureCode(code));
    const pins = () => Promise.reject(new Error('loaded'));
    await reopen(store, { code: { bytes: code, pins } });
    const other = { bytes: Uint8Array.from([...code, 10]), pins };
    await expect(reopen(store, { code: other })).rejects.toThrow('loaded');
    expect(await codesOf(store)).toBe('a');
  });

  it('a new era begins when the code changes under the same definitions, and when code is added', async () => {
    const store = memory();
    await reopen(store, {});
    await reopen(store, { code: pureCode(code) });
    await reopen(store, { code: forged(Uint8Array.from([...code, 10])) });
    expect(await codesOf(store)).toBe('-ab');
    await verifyStore(await store.openReadonly(), { app: one });
  });

  it('an era that begins for its policy alone keeps the code, and an era with other definitions drops it', async () => {
    const store = await worldWith(pureCode(code));
    await reopen(store, { policy: [{ send: '*', decision: 'allow' }] });
    await reopen(store, { app: two });
    expect(await codesOf(store)).toBe('aa-');
    expect((await replayAlone(store)).eras.map(({ status }) => status)).toEqual(['replayed', 'replayed', 'unverified']);
  });
});

describe('recorded code', () => {
  it('a fork carries it, and is replayed by it', async () => {
    const store = await worldWith(pureCode(code));
    const into = memory();
    await forkWorld(await store.openReadonly(), { app: one, into, at: 3 });
    {
      await using fork = await openKernelWorld({ store: into, app: one });
      await count(fork, 1);
    }
    const { unverified, replayed } = await replayAlone(into);
    expect([unverified, replayed > 4]).toEqual([0, true]);
  });

  it('recorded code can be erased as any content; its era is unverified then, and the world verifies', async () => {
    const store = await worldWith(pureCode(code));
    const [{ code: link } = {}] = await manifestsOf(store);
    {
      await using world = await openKernelWorld({ store, app: one });
      await world.erase({ refs: [link!] });
    }
    const { replayed, erased } = await replayAlone(store);
    expect([replayed, erased]).toEqual([0, 1]);
    await reopen(store, { policy: [{ send: '*', decision: 'allow' }] });
    expect(await codesOf(store)).toBe('a-'); // no manifest links the erased code
  });
});
