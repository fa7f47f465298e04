/** Verification era by era: what is replayed, what is unverified, and what of a unverified era is checked all the same. */
import type { JournalRecord, Value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import {
  type App,
  defineApp,
  EMPTY_HEAD,
  type Head,
  memory,
  nextHead,
  openKernelWorld,
  readFrame,
  type Store,
  type StoredFrame,
  verifyStore,
  writeFrame,
} from '../../../src/index.js';
import { portableSha256, toHex } from '../../../src/pure/codec/index.js';
import { EraWalk } from '../../../src/replay/verify/walk/era-walk.js';
import { ComputedNodes } from '../../../src/state/value-nodes.js';
import { codeOf, refusal, until } from '../../support/judge.js';
import { contentOf, storeWith } from './damage.js';
import { added, appOf, asked, counter, counter1, counter2, counter3, payer } from './versions.js';

const ONE = appOf(counter1());
const TWO = appOf(counter2({}, 'demo/Counter@1'));
const THREE = appOf(counter3(counter2({}, 'demo/Counter@1')));

/** Three eras; in the first a payment is asked for and answered. Frames 0 to 4, 5 to 7, 8 and 9. */
async function threeEras(): Promise<Store> {
  const store = memory();
  const adapter = payer();
  {
    await using world = await openKernelWorld({ store, app: ONE, adapters: [adapter] });
    await world.request(counter('a'), added(1));
    await world.request(counter('a'), asked('rent'));
    await until(() => adapter.asked.length > 0, 'the payment');
    adapter.answer({ status: 'ok', payload: 'paid' });
    await world.pump();
  }
  for (const [app, legacy] of [
    [TWO, ONE],
    [THREE, TWO],
  ] as const) {
    await using world = await openKernelWorld({ store, app, legacy: [legacy] });
    await world.request(counter('a'), added(1));
  }
  return store;
}

async function verify(store: Store, app?: App, legacy: readonly App[] = []) {
  const reader = await store.openReadonly();
  return verifyStore(reader, { ...(app === undefined ? {} : { app }), legacy });
}

const statuses = async (...given: Parameters<typeof verify>) =>
  (await verify(...given)).eras.map(({ status }) => status).join(' ');

describe('a world of three eras', () => {
  it('a world of three eras is replayed whole when all of their apps are given, in any order', async () => {
    const store = await threeEras();
    const report = await verify(store, THREE, [TWO, ONE]);
    expect(report).toMatchObject({ replayed: report.frames, unverified: 0 });
    expect(report.eras.map(({ from }) => from)).toEqual([0, 5, 8]);
    expect(report.eras.map(({ to }) => to)).toEqual([4, 7, 9]);
    expect(await statuses(store, ONE, [THREE, TWO])).toBe('replayed replayed replayed');
  });

  it('the newest app alone replays every era when its definitions include the earlier ones', async () => {
    const store = await threeEras();
    expect(await statuses(store, appOf(counter3(counter2({}, counter1()))))).toBe('replayed replayed replayed');
  });

  it.each<[string, App | undefined, readonly App[], string, number]>([
    ['the newest app', appOf(counter3('demo/Counter@2')), [], 'unverified unverified unverified', 0],
    ['the newest two', THREE, [], 'unverified replayed replayed', 5],
    ['the oldest', ONE, [], 'replayed unverified unverified', 5],
    ['the middle one', TWO, [], 'unverified replayed unverified', 3],
    ['the outer two', THREE, [ONE], 'replayed replayed replayed', 10],
    ['none', undefined, [], 'unverified unverified unverified', 0],
  ])(
    'with %s, the eras of other apps are unverified and counted as such [RPL-4]',
    async (_, app, legacy, expected, replayed) => {
      const store = await threeEras();
      if (expected.startsWith('unverified unverified unverified') && app !== undefined) {
        // Another chain of names is another digest: this app fits no era.
        expect(await refusal(verify(store, app, legacy))).toMatchObject({ code: 'manifest_mismatch' });
        return;
      }
      const report = await verify(store, app, legacy);
      expect(report.eras.map(({ status }) => status).join(' ')).toBe(expected);
      expect([report.replayed, report.unverified]).toEqual([replayed, report.frames - replayed]);
    },
  );

  it('code with the same digests and another effect diverges in the era of that code and in no other', async () => {
    const store = await threeEras();
    const mutant = appOf(counter2({ factor: 2 }, 'demo/Counter@1'));
    const error = await refusal(verify(store, mutant));
    expect(error).toMatchObject({ code: 'replay_divergence', details: { divergence: { seq: 6 } } });
    expect(await statuses(store, THREE, [appOf(counter1())])).toContain('replayed');
  });

  it('verification refuses an app that fits none of the eras', async () => {
    const store = await threeEras();
    const error = await refusal(verify(store, defineApp({ reducers: [] })));
    expect(error).toMatchObject({
      code: 'manifest_mismatch',
      details: { actual: 'demo/Counter@3, demo/pay_plan@1, demo/peek_plan@1, demo.pay@1' },
    });
  });

  it('mutant: a definition with the right name and another digest leaves its era unverified, not replayed', async () => {
    const store = await threeEras();
    const mutant = { ...counter1({ factor: 2 }), digest: '1'.repeat(64) };
    expect(await statuses(store, THREE, [appOf(mutant)])).toBe('unverified replayed replayed');
  });
});

/** A journal whose records were changed and whose chain was made anew, as a forger would. */
async function forged(store: Store, change: (seq: number, records: Value[]) => Value[]): Promise<StoredFrame[]> {
  const reader = await store.openReadonly();
  const frames: StoredFrame[] = [];
  let head: Head = EMPTY_HEAD;
  for await (const stored of reader.journal.read(0)) {
    const records = [...readFrame(stored.bytes, stored.seq).all] as unknown as Value[];
    const bytes = writeFrame(change(stored.seq, records) as unknown as JournalRecord[]);
    head = nextHead(head, bytes, portableSha256);
    frames.push({ ...stored, bytes, head: head.digest });
  }
  return frames;
}

async function walk(store: Store, frames: readonly StoredFrame[], apps: readonly App[]): Promise<EraWalk> {
  const { content } = await store.openReadonly();
  const eras = new EraWalk(apps, new ComputedNodes(content, portableSha256), portableSha256);
  for (const frame of frames) await eras.step(frame);
  return eras;
}

type Changed = Record<string, Value>;

describe('an unverified era', () => {
  it('an unverified era that was not changed is walked through', async () => {
    const store = await threeEras();
    const frames = await forged(store, (_, records) => records);
    expect((await walk(store, frames, [])).eras).toHaveLength(3);
  });

  it.each<[string, number, (records: Value[]) => Value[], RegExp]>([
    [
      'with a receipt of another effect',
      3,
      ([first, ...rest]) => [{ ...(first as Changed), effect: 'a'.repeat(64) }, ...rest],
      /is not open/,
    ],
    [
      'with a receipt of another attempt',
      3,
      ([first, ...rest]) => [{ ...(first as Changed), attempt: 7 }, ...rest],
      /attempt 7 .* armed 1 times/,
    ],
    [
      'without the attempt of an effect',
      2,
      (records) => records.filter((record) => (record as Changed).kind !== 'attempt'),
      /armed 0 times/,
    ],
    [
      'without the effect of a receipt',
      2,
      (records) => records.filter((record) => (record as Changed).kind !== 'effect'),
      /is not open/,
    ],
  ])('%s is damaged [RPL-4]', async (_, at, change, words) => {
    const store = await threeEras();
    const frames = await forged(store, (seq, records) => (seq === at ? change(records) : records));
    const error = await refusal(walk(store, frames, [TWO]));
    expect(error.code).toBe('journal_damaged');
    expect(error.message).toMatch(words);
  });

  it('a snapshot with an open effect that no record mentions is damaged', async () => {
    const store = memory();
    {
      await using world = await openKernelWorld({ store, app: ONE, drive: 'manual' });
      await world.request(counter('a'), added(1));
      await world.request(counter('a'), asked('rent'));
      await world.snapshot();
    }
    const frames = await forged(store, (_, records) => records.filter((one) => (one as Changed).kind !== 'effect'));
    const error = await refusal(walk(store, frames, []));
    expect(error).toMatchObject({ code: 'journal_damaged', details: { where: 'frame 3, record 0' } });
    expect((await walk(store, await forged(store, (_, records) => records), [])).head.seq).toBe(3);
  });

  it('an era stays unverified when its manifest pins more than the app has', async () => {
    const store = await threeEras();
    const frames = await forged(store, (seq, records) => {
      const [manifest, ...rest] = records as [Changed, ...Value[]];
      const more = { name: 'demo.more@1', digest: 'd'.repeat(64) };
      return seq === 0 ? [{ ...manifest, effects: [more, ...(manifest.effects as Value[])] }, ...rest] : records;
    });
    expect((await walk(store, frames, [ONE])).eras[0]?.status).toBe('unverified');
  });

  it('a changed decision in an unverified era is not detected, and the era is not reported as replayed [RPL-4]', async () => {
    const store = await threeEras();
    const frames = await forged(store, (seq, records) => {
      if (seq !== 1) return records;
      const [request, ...rest] = records as [Changed, ...Value[]];
      return [{ ...request, event: { name: 'demo/Added@1', value: { by: 100 } } }, ...rest];
    });
    const unverified = await walk(store, frames, [TWO]);
    expect(unverified.eras.map(({ status }) => status)).toEqual(['unverified', 'replayed', 'unverified']);
    expect(await refusal(walk(store, frames, [ONE]))).toMatchObject({ code: 'replay_divergence' });
  });
});

describe('a manifest that does not begin an era as it should', () => {
  it('a manifest in the middle of a journal without a snapshot before it is damage [RPL-21]', async () => {
    const store = await threeEras();
    const frames = (await forged(store, (_, records) => records)).slice(0, 4);
    const { ingress } = readFrame((frames[0] as StoredFrame).bytes, 0);
    const bytes = writeFrame([
      { ...ingress, seq: 4 },
      { kind: 'state', leaves: [] },
    ]);
    const before = frames[3] as StoredFrame;
    const { digest } = nextHead({ seq: 3, digest: before.head }, bytes, portableSha256);
    const { at } = frames[0] as StoredFrame;
    frames.push({ seq: 4, at, kind: 'manifest', head: digest, bytes });
    const error = await refusal(walk(store, frames, [ONE]));
    expect(error).toMatchObject({ code: 'journal_damaged', details: { where: 'frame 4, record 0' } });
  });

  it('a journal that does not begin with a manifest is damaged [RPL-21]', async () => {
    const store = await threeEras();
    const [, second] = await forged(store, (_, records) => records);
    const { ingress } = readFrame((second as StoredFrame).bytes, 1);
    const bytes = writeFrame([
      { ...ingress, seq: 0 },
      { kind: 'state', leaves: [] },
    ]);
    const frame = {
      ...(second as StoredFrame),
      seq: 0,
      bytes,
      head: nextHead(EMPTY_HEAD, bytes, portableSha256).digest,
    };
    expect(await refusal(walk(store, [frame], []))).toMatchObject({ code: 'journal_damaged' });
  });
});

describe('the content of a world', () => {
  it('a verification in one piece reads each blob once, and finds damage in each of them', async () => {
    const store = memory();
    {
      await using world = await openKernelWorld({ store, app: ONE, adapters: [payer()] });
      for (let n = 0; n < 70; n++) await world.request(counter('a'), added(1)); // two chunks of its log
    }
    const stored = await contentOf(await store.openReadonly());
    const unlinked = new Uint8Array([7]); // only the list of blobs names it
    const blobs = new Map(stored.blobs).set(toHex(portableSha256(unlinked)), unlinked);
    const content = { ...stored, blobs };
    const hexes = [...blobs.keys()];
    expect(hexes.length).toBeGreaterThan(2);
    const sound = storeWith(content);
    const reads: string[] = [];
    const get: typeof sound.content.get = (ref) => {
      reads.push(ref.hex);
      return sound.content.get(ref);
    };
    const options = { app: ONE };
    const report = await verifyStore({ ...sound, content: { ...sound.content, get } }, options);
    expect(report.blobs).toBe(hexes.length);
    expect(reads.sort()).toEqual(hexes.sort());
    for (const hex of hexes) {
      const damaged = { ...content, blobs: new Map(blobs).set(hex, new Uint8Array([1])) };
      expect(await codeOf(verifyStore(storeWith(damaged), options)), hex).toBe('blob_damaged');
    }
  });
});
