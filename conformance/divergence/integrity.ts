/** A journal or its content that differs from what was written. */
import { Ref, type Value } from '@reprise/contracts';
import { type App, memory, openKernelWorld, type World } from '@reprise/kernel';
import type { VirtualClock } from '@reprise/testkit';
import { flipped, load, type Sample } from '../tamper/sample.js';
import { changed, type Data, forged, foundIn, frameAt, rearranged, shopSample } from './forging.js';
import type { Catch, Row } from './row.js';
import { orderAt, POLICY, recordShop, runShop, SHOP, shopApp, shopOptions } from './shop.js';

type Damage = (sample: Sample) => Sample | Promise<Sample>;

/** A damage, and how the same hand does no harm: forging with nothing changed, moving nothing. */
function row(name: string, how: string, caught: Row['caught'], damage: Damage, harmless: Damage = (same) => same): Row {
  const found = async (act: Damage): Promise<Catch[]> => foundIn(await act(await shopSample()));
  return { group: 'integrity', name, how, caught, broken: () => found(damage), sound: () => found(harmless) };
}

const bitOfFrame =
  (seq: number): Damage =>
  (sample) => {
    const frame = frameAt(sample, seq);
    const bytes = flipped(frame.bytes, Math.floor(frame.bytes.length / 2), 3);
    return { ...sample, frames: sample.frames.with(seq, { ...frame, bytes }) };
  };

const edited =
  (seq: number, i: number, fields: Data): Damage =>
  (sample) =>
    forged(sample, seq, (records) => changed(records, i, fields));

/** The blob whose bytes hold this text. */
function blobWith({ blobs }: Sample, text: string): [hex: string, bytes: Uint8Array] {
  for (const [hex, bytes] of blobs) if (Buffer.from(bytes).includes(text)) return [hex, bytes];
  throw new Error(`no blob holds ${text}`);
}

const otherBlob =
  (text: string, make: (bytes: Uint8Array) => Uint8Array | undefined): Damage =>
  (sample) => {
    const [hex, bytes] = blobWith(sample, text);
    const blobs = new Map(sample.blobs);
    const other = make(bytes);
    if (other === undefined) blobs.delete(hex);
    else blobs.set(hex, other);
    return { ...sample, blobs };
  };

/** Frame 5 of a shop that was recorded anew, in the place of the own one. */
const frameOf =
  (name: string): Damage =>
  async (sample) => {
    const other = await load(await (await recordShop(name)).openReadonly());
    return { ...sample, frames: sample.frames.with(5, frameAt(other, 5)) };
  };

const oneBit = (bytes: Uint8Array) => flipped(bytes, bytes.length >> 1, 0);

/** The shop's world, written again by a forger. */
async function writtenAgain(app: App, run: (world: World, clock: VirtualClock) => Promise<unknown>): Promise<Sample> {
  const store = memory();
  const { clock, ...options } = shopOptions();
  const world = await openKernelWorld({ ...options, clock, app, store, policy: POLICY });
  await run(world, clock);
  await world.close();
  return load(await store.openReadonly());
}

/** The same requests, replayed by another app. */
const forgedWhole = () => writtenAgain(shopApp({ init: () => ({ ...SHOP.init(), receipt: 'forged' }) }), runShop);

/** The same app and the same requests up to the last frame, which is another. */
const forgedTail = () =>
  writtenAgain(shopApp(), async (world, clock) => {
    await runShop(world, clock, 70_000);
    await world.request(orderAt('b'), { name: 'shop/Added@1', value: { sku: 'tea', cents: 1 } });
  });

const DAMAGE: readonly Row[] = [
  row(
    'a bit of a frame',
    'one bit turned in the middle of frame 4',
    [['integrity check', 'journal_damaged', 'frame 4']],
    bitOfFrame(4),
  ),
  row(
    'a bit of a blob',
    'one bit turned in a page that the journal links',
    [['integrity check', 'blob_damaged', 'a blob does not have its digest (sha256:9a8eeff1d0bc…']],
    otherBlob('a page', oneBit),
  ),
  row(
    'a bit of a snapshot',
    'one bit turned in a node of the state map',
    [['integrity check', 'blob_damaged', 'a blob does not have its digest (sha256:8b6d0ced4319…']],
    otherBlob('shop/Order@1', oneBit),
  ),
  row(
    'a blob that is gone',
    'the page removed from the content store',
    [['integrity check', 'blob_missing', 'frame 7']],
    otherBlob('a page', () => undefined),
  ),
  row(
    'a cut tail',
    'the last three frames removed',
    [
      [
        'acknowledged head',
        'head_mismatch',
        'no frame of this journal has the expected head (sha256:e98313c71570… at frame 7',
      ],
    ],
    (sample) => ({ ...sample, frames: sample.frames.slice(0, -3) }),
  ),
  row('a frame that is gone', 'frame 5 removed', [['integrity check', 'journal_damaged', 'frame 5']], (sample) => ({
    ...sample,
    frames: sample.frames.toSpliced(5, 1),
  })),
  row('a frame twice', 'frame 2 repeated', [['integrity check', 'journal_damaged', 'frame 3']], (sample) => ({
    ...sample,
    frames: sample.frames.toSpliced(2, 0, frameAt(sample, 2)),
  })),
  row(
    'frames in another order',
    'frames 1 and 2 exchanged',
    [['integrity check', 'journal_damaged', 'frame 1']],
    (sample) => ({ ...sample, frames: sample.frames.with(1, frameAt(sample, 2)).with(2, frameAt(sample, 1)) }),
  ),
  row(
    'a frame of another world',
    'frame 5 replaced by that of a world with another beginning',
    [['integrity check', 'journal_damaged', 'frame 5']],
    frameOf('other'),
    frameOf('shop'),
  ),
  row(
    'the time of a row',
    'the column `at` is a millisecond later than the frame',
    [['integrity check', 'journal_damaged', 'frame 6']],
    (sample) => ({
      ...sample,
      frames: sample.frames.with(6, { ...frameAt(sample, 6), at: frameAt(sample, 6).at + 1 }),
    }),
  ),
  row(
    'the kind of a row',
    'the column `kind` is timer although the frame is a request',
    [['integrity check', 'journal_damaged', 'frame 6']],
    (sample) => ({ ...sample, frames: sample.frames.with(6, { ...frameAt(sample, 6), kind: 'timer' }) }),
  ),
];

const INDEXES: readonly Row[] = [
  {
    group: 'integrity',
    name: 'an index of requests',
    how: 'the store does not find a request by its id, so that the request would be accepted twice',
    caught: [['integrity check', 'journal_damaged', 'frame 1']],
    broken: async () => foundIn(await shopSample(), { over: { findKey: async () => undefined } }),
    sound: async () => foundIn(await shopSample()),
  },
  {
    group: 'integrity',
    name: 'an index of landmarks',
    how: 'the store does not find the snapshot, and reports one in another place',
    caught: [['integrity check', 'journal_damaged', 'frame 8']],
    broken: async () => {
      const sample = await shopSample();
      const findLast = async (kind: string) => frameAt(sample, kind === 'snapshot' ? 7 : 0);
      return foundIn(sample, { over: { findLast } });
    },
    sound: async () => foundIn(await shopSample()),
  },
];

/** Everything behind the change is made to fit; only replaying it, or the acknowledged head, can tell. */
const same =
  (seq: number): Damage =>
  (sample) =>
    forged(sample, seq, (records) => records);

const FORGERIES: readonly Row[] = [
  row(
    'a forged request',
    'an item’s price changed in frame 1, with all heads recomputed',
    [['verification', 'replay_divergence', 'frame 1, record 1 (fact), `$.value.total`: `300` → `30`']],
    edited(1, 0, { event: { name: 'shop/Added@1', value: { sku: 'tea', cents: 30 } } }),
    same(1),
  ),
  row(
    'a forged fact',
    'the total changed in a fact of frame 2',
    [['verification', 'replay_divergence', 'frame 2, record 1 (fact), `$.value.total`: `8` → `800`']],
    edited(2, 1, { value: { items: 2, total: 8 } }),
    same(2),
  ),
  row(
    'a forged effect',
    'the amount of the charge changed in frame 3',
    [['verification', 'replay_divergence', 'frame 3, record 2 (effect), `$.params.cents`: `8` → `800`']],
    edited(3, 2, { params: { cents: 8, order: 'a' } }),
    same(3),
  ),
  row(
    'a forged event',
    'the event of a shelf changed in frame 6',
    [['verification', 'replay_divergence', 'frame 6, record 2 (event), `$.event.value.order`: `"z"` → `"b"`']],
    edited(6, 2, { event: { name: 'shop/Reserved@1', value: { order: 'z' } } }),
    same(6),
  ),
  row(
    'a forged state',
    'a number changed in the state record of frame 9',
    [
      [
        'verification',
        'replay_divergence',
        'frame 9, record 1 (state), `$.leaves[cell shop/Order@1 b].state.reminded`: `2` → `1`',
      ],
    ],
    (sample) => forged(sample, 9, (records) => changed(records, 1, { leaves: otherState(records[1]) })),
    same(9),
  ),
  row(
    'a forged time',
    'the time of frame 6 is a second later',
    [
      [
        'verification',
        'replay_divergence',
        'frame 6, record 4 (state), `$.leaves[cell shop/Order@1 b].timers[0].reminder`',
      ],
    ],
    (sample) => forged(sample, 6, (records) => changed(records, 0, { at: Number(records[0]?.at) + 1_000 })),
    same(6),
  ),
  row(
    'a record that is gone',
    'the second event of frame 1 removed',
    [['verification', 'replay_divergence', 'frame 1, record 3 (state), `$`: a record `state` → a record `event`']],
    (sample) => forged(sample, 1, (records) => records.toSpliced(3, 1)),
    same(1),
  ),
  row(
    'records in another order',
    'the two events of frame 1 exchanged',
    [['verification', 'replay_divergence', 'frame 1, record 2 (event), `$.to[1]`']],
    (sample) => forged(sample, 1, (records) => records.with(2, records[3] as Data).with(3, records[2] as Data)),
    same(1),
  ),
  row(
    'a frame cut out',
    'frame 2 removed, with all numbers and heads recomputed',
    [['verification', 'replay_divergence', 'frame 2, record 1 (intent), `$.input.total`: `800` → `300`']],
    (sample) => rearranged(sample, (frames) => frames.toSpliced(2, 1)),
    (sample) => rearranged(sample, (frames) => frames),
  ),
  row(
    'a forged policy',
    'the manifest forbids an effect that it allowed',
    [['verification', 'replay_divergence', 'frame 0, record 1 (state), `$.leaves[world].policy`']],
    edited(0, 0, { policy: [{ effect: '*', decision: 'deny' }] as unknown as Value }),
    same(0),
  ),
  row(
    'a forged map of the state',
    'the snapshot links another root',
    [['integrity check', 'blob_damaged', 'frame 8']],
    (sample) => forged(sample, 8, (records) => changed(records, 0, { root: otherRoot(sample) })),
    same(8),
  ),
  row(
    'newer rules',
    'the manifest has semantics 7, which this kernel does not know',
    [['verification', 'semantics_unknown', 'frame 0']],
    edited(0, 0, { semantics: 7 }),
    same(0),
  ),
  row(
    'a whole journal, forged',
    'the same requests replayed by another app: sound in itself, with its own manifest',
    [
      [
        'verification',
        'replay_divergence',
        'frame 1, record 4 (state), `$.leaves[cell shop/Order@1 a].state.receipt`: `"forged"` → `""`',
      ],
    ],
    forgedWhole,
    () => writtenAgain(shopApp(), runShop),
  ),
  row(
    'a tail, forged',
    'the last frame replaced by another one of the same app: sound in itself',
    [
      [
        'acknowledged head',
        'head_mismatch',
        'no frame of this journal has the expected head (sha256:f4563ca1da9e… at frame 10',
      ],
    ],
    forgedTail,
    () => writtenAgain(shopApp(), runShop),
  ),
];

/** Leaves of which the first was reminded once more. */
function otherState(state: Data | undefined): Value {
  const [[key, fields], ...others] = (state as Data).leaves as unknown as [[Value, Data], ...Value[]];
  return [[key, { ...fields, 'state.reminded': [2] }], ...others] as unknown as Value;
}

/** A link to existing content that is not a map. */
function otherRoot(sample: Sample): Value {
  return Ref.fromHex(blobWith(sample, 'a page')[0]).asValue();
}

/** A journal that was changed. */
export const INTEGRITY: readonly Row[] = [...DAMAGE, ...INDEXES, ...FORGERIES];
