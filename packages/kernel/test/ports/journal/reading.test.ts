import type { Value } from '@reprise/contracts';
import { Ref } from '@reprise/contracts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import {
  decode,
  decodeScope,
  EMPTY_HEAD,
  encode,
  encodeScope,
  equalBytes,
  fromHex,
  getBytes,
  getValue,
  linksOf,
  memory,
  nextHead,
  openKernelWorld,
  portableSha256,
  putValue,
  type ReadonlyStore,
  readFrame,
  type Store,
  type StoredFrame,
  toHex,
  verifyStore,
  worldAt,
  writeFrame,
} from '../../../src/index.js';
import { readLog } from '../../../src/ports/content/log-reader.js';
import { readInputs } from '../../../src/ports/journal/frame.js';
import { compareBytes } from '../../../src/pure/codec/index.js';
import { expectRefused, JUNK, verdictOn } from '../../run/world/ask/junk.js';
import { closeSound, codeOf, refusal } from '../../support/judge.js';
import { add, ask, cell, lab, log, once, start } from '../../support/lab.js';
import { ok, outside } from '../../support/outside.js';
import { PLACES } from '../../support/places.js';

const { app } = lab();
const { app: calling } = lab({
  *call(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input));
  },
});

describe('given the codec', () => {
  it('the codec refuses to encode what is not a value', async () => {
    await expectRefused((junk) => encode(junk), 'encode', PUTTABLE);
  });

  it('the codec refuses to decode what is not bytes', async () => {
    await expectRefused((junk) => decode(junk as never), 'decode');
    await expectRefused((junk) => linksOf(junk as never), 'linksOf', NOT_ENDLESS);
  });

  it('the codec decodes any bytes to their one value or refuses them, seed 20260101', async () => {
    for (const bytes of fc.sample(fc.uint8Array({ maxLength: 40 }), { seed: 20_260_101, numRuns: 3_000 / stepOf(4) })) {
      const verdict = await verdictOn(() => decode(bytes), `decode ${toHex(bytes)}`);
      if (verdict.startsWith('accepted')) expect(toHex(encode(decode(bytes)))).toBe(toHex(bytes));
      else expect(verdict).toBe('invalid_bytes');
    }
  });

  it('malformed hex or an invalid digest throws the documented RangeError or TypeError', () => {
    for (const text of ['0', 'zz', 'AA', '0x', ' 0', '00 ']) expect(() => fromHex(text), text).toThrow(RangeError);
    for (const text of ['', '00', 'g'.repeat(64), 'A'.repeat(64), `${'a'.repeat(64)}\n`]) {
      expect(() => Ref.fromHex(text), text).toThrow(TypeError);
    }
    expect(toHex(fromHex('00ff'))).toBe('00ff');
    expect([compareBytes(fromHex('00'), fromHex('01')) < 0, equalBytes(fromHex('00'), fromHex('00'))]).toEqual([
      true,
      true,
    ]);
  });
});

/** A frame that arms an effect where it emits it. */
async function armingFrame() {
  const store = memory();
  const adapter = outside(once);
  adapter.answerAll((params) => ok({ got: params }));
  const world = await openKernelWorld({ store, app: calling, adapters: [adapter] });
  const { seq } = await ask(world, 'x', [start('call', 1)]);
  await world.pump();
  await world.close();
  const open = await store.openReadonly();
  for await (const { bytes } of open.journal.read(seq, seq)) return { bytes, seq };
  throw new Error('no such frame');
}

/** What has an end can be searched for links, whatever it is. */
const NOT_ENDLESS = JUNK.map(([name]) => name).filter((name) => name !== 'a cycle' && name !== 'a deep list');

describe('given a frame', () => {
  it('a frame of invalid bytes is reported as damaged, never half read [JRN-1]', async () => {
    await expectRefused((junk) => readFrame(junk as never, 3), 'readFrame');
    const values = fc.sample(fc.uint8Array({ maxLength: 60 }), { seed: 20_260_101, numRuns: 1_000 / stepOf(4) });
    for (const bytes of values)
      expect(await verdictOn(() => readFrame(bytes, 3), toHex(bytes))).toBe('journal_damaged');
    for (const thing of [
      null,
      [],
      [1],
      [1, 2],
      [{}, {}],
      [{ kind: 'snapshot' }, { kind: 'state' }],
      { kind: 'state' },
    ]) {
      expect(await verdictOn(() => readFrame(encode(thing), 3), JSON.stringify(thing))).toBe('journal_damaged');
      expect(await verdictOn(() => readInputs(encode(thing), 3), JSON.stringify(thing))).toBe('journal_damaged');
    }
  });

  it('replay detects a snapshot that links the map of an earlier frame, although its chain is sound [RPL-8]', async () => {
    const store = memory();
    const world = await openKernelWorld({ store, app });
    for (const n of [1, 2]) {
      await ask(world, 'x', [add(n)]);
      await world.snapshot();
    }
    await world.close();
    const open = await store.openReadonly();
    const frames: StoredFrame[] = [];
    for await (const frame of open.journal.read(0)) frames.push(frame);
    const [first, last] = frames.filter(({ kind }) => kind === 'snapshot') as [StoredFrame, StoredFrame];
    const [earlier, ...rest] = readFrame(last.bytes, last.seq).all;
    const { root, leaves } = readInputs(first.bytes, first.seq).ingress as never;
    const bytes = writeFrame([{ ...(earlier as never as object), root, leaves } as never, ...rest]);
    const before = { seq: last.seq - 1, digest: frames[last.seq - 1]?.head ?? '' };
    const forged = { ...last, bytes, head: nextHead(before, bytes, portableSha256).digest };
    const journal = {
      ...open.journal,
      head: async () => ({ seq: last.seq, digest: forged.head }),
      read: async function* (from: number, to = last.seq) {
        for (const frame of frames.slice(from, to + 1)) yield frame.seq === last.seq ? forged : frame;
      },
    };
    const error = await refusal(verifyStore({ ...open, journal }, { app }));
    expect([error.code, error.details.where]).toEqual([
      'replay_divergence',
      expect.stringContaining(`frame ${last.seq}`),
    ]);
  });

  it('a frame with malformed records is damaged, and the record is named [JRN-1]', async () => {
    const { bytes, seq } = await armingFrame();
    const { all, ingress } = readFrame(bytes, seq);
    expect(all.slice(-3).map(({ kind }) => kind)).toEqual(['effect', 'attempt', 'state']);
    expect(writeFrame(all)).toEqual(bytes);
    const effect = all.length - 3;
    expect(readInputs(bytes, seq)).toEqual({ ingress, armed: [effect] });
    const [first, armed, derived, leaves] = decodeScope(bytes) as readonly [Value, Value, readonly Value[], Value];
    const cases: readonly (readonly [frame: Value, where: string])[] = [
      [[null, armed, derived, leaves], ', record 0'],
      [[first, armed, derived.with(effect - 1, null), leaves], `, record ${effect}`],
      [[first, armed, derived.with(effect - 1, [99]), leaves], `, record ${effect}`],
      [[first, armed, derived.with(effect - 1, [2, 'c']), leaves], `, record ${effect}`],
      [[first, [1], derived, leaves], ''], // another record than that of an effect
      [[first, [99], derived, leaves], ''],
      [[first, [null], derived, leaves], ''],
      [[first, armed, derived, [null]], ''],
      [[first, armed, derived, [['cell', 'x', 1]]], ''],
      [[first, armed, derived, [['effect', 'x', null]]], ''],
      [[first, armed, derived], ''],
      [[first, armed, derived, leaves, null], ''],
    ];
    for (const [frame, where] of cases) {
      const error = await refusal((async () => readFrame(encodeScope(frame), seq))());
      expect([error.code, error.details.where]).toEqual(['journal_damaged', `frame ${seq}${where}`]);
    }
    const inputs = await refusal((async () => readInputs(bytes, seq + 1))());
    expect([inputs.code, inputs.details.where]).toEqual(['journal_damaged', `frame ${seq + 1}, record 0`]);
    expect(readInputs(encodeScope([first, [], null, null]), seq).armed).toEqual([]);
    const cut = await refusal((async () => readInputs(bytes.subarray(0, 9), seq))());
    expect([cut.code, cut.details.where, cut.cause !== undefined]).toEqual(['journal_damaged', `frame ${seq}`, true]);
  });

  it('a frame at another number than its own is damaged', async () => {
    const store = memory();
    const world = await openKernelWorld({ store, app });
    await ask(world, 'x', [add(1)]);
    await world.close();
    const open = await store.openReadonly();
    for await (const { bytes, seq } of open.journal.read(1)) {
      expect(readFrame(bytes, seq).all.length).toBeGreaterThan(1);
      expect(await verdictOn(() => readFrame(bytes, seq + 1), 'elsewhere')).toBe('journal_damaged');
      expect(nextHead(EMPTY_HEAD, bytes, portableSha256).digest).toHaveLength(64);
    }
    await open.close();
  });
});

describe.each(PLACES)('given a store that is read, on $name', (place) => {
  let store: Store;
  let remove: () => void;
  let reading: ReadonlyStore;

  beforeAll(async () => {
    ({ store, remove } = place.make());
    const world = await openKernelWorld({ store, app });
    await ask(world, 'x', [add(1), ...Array.from({ length: 40 }, (_, i) => log(i))]);
    await world.snapshot();
    await world.close();
    reading = await store.openReadonly();
  });

  afterAll(async () => {
    await reading.close();
    remove();
  });

  it('a verification or a time with invalid arguments is refused', async () => {
    await expectRefused((junk) => verifyStore(junk as never), 'verifyStore');
    await expectRefused((junk) => verifyStore(reading, junk as never), 'options', HARMLESS);
    await expectRefused((junk) => verifyStore(reading, { app: junk } as never), 'app', ['undefined']);
    await expectRefused((junk) => verifyStore(reading, { expect: junk } as never), 'expect', ['undefined']);
    const called = JUNK.filter(([, junk]) => typeof junk === 'function');
    const notCalled = (junk: unknown) => (typeof junk === 'function' ? undefined : junk);
    await expectRefused((junk) => verifyStore(reading, { onProgress: notCalled(junk) } as never), 'onProgress', [
      'undefined',
      ...called.map(([name]) => name),
    ]);
    await expectRefused((junk) => worldAt(junk as never, app, 0), 'worldAt');
    await expectRefused((junk) => worldAt(reading, junk as never, 0), 'worldAt an app');
    await expectRefused((junk) => worldAt(reading, app, junk as never), 'worldAt a frame', ['zero', 'one']);
  });

  it.each([{ kind: 'receipt' }, { at: 7 }])(
    'verification names a row whose %j differs from its frame [JRN-1]',
    async (otherwise) => {
      const { journal } = reading;
      const lying = {
        ...journal,
        read: async function* (from: number, to?: number) {
          for await (const frame of journal.read(from, to)) yield frame.seq === 1 ? { ...frame, ...otherwise } : frame;
        },
      };
      const error = await refusal(verifyStore({ ...reading, journal: lying }, { app }));
      expect([error.code, error.details.where]).toEqual(['journal_damaged', 'frame 1']);
    },
  );

  it.each([
    ['an unknown head', 'a'.repeat(64)],
    ['the head of an empty journal', EMPTY_HEAD.digest],
  ])('a verification that expects %s of a journal with frames is refused', async (_, expected) => {
    expect(await codeOf(verifyStore(reading, { expect: expected }))).toBe('head_mismatch');
  });

  it('a store refuses to read content by an invalid link', async () => {
    await expectRefused((junk) => reading.content.get(junk as never), 'get');
    await expectRefused((junk) => reading.content.has(junk as never), 'has');
    await expectRefused((junk) => getBytes(reading.content, junk as never), 'getBytes');
    await expectRefused((junk) => getValue(reading.content, junk as never), 'getValue');
    await expectRefused((junk) => readLog(reading.content, junk as never).next(), 'readLog');
    expect(await codeOf(getBytes(reading.content, Ref.fromHex('a'.repeat(64))))).toBe('blob_missing');
  });

  it('a journal refuses an invalid position or text', async () => {
    const { journal } = reading;
    await expectRefused((junk) => journal.read(junk as never), 'read from', NUMBERS);
    await expectRefused((junk) => journal.read(0, junk as never), 'read to', ['undefined', ...NUMBERS]);
    await expectRefused((junk) => journal.findLast(junk as never, 0), 'a kind', TEXTS);
    await expectRefused((junk) => journal.findLast('request', junk as never), 'the last place', NUMBERS);
    await expectRefused((junk) => journal.findKey(junk as never), 'a key', TEXTS);
  });

  it('a store refuses to write anything but bytes, and stores nothing', async () => {
    const own = place.make();
    const open = await own.store.open();
    await expectRefused((junk) => open.journal.append([junk] as never, EMPTY_HEAD), 'a frame');
    await expectRefused((junk) => open.journal.append([], junk as never), 'a head');
    await expectRefused((junk) => open.content.erase([junk] as never, 1), 'what is erased');
    await expectRefused((junk) => open.content.erase([], junk as never), 'by which frame', NUMBERS);
    await expectRefused((junk) => open.mark(junk as never), 'a note', ['null', ...TEXTS]);
    expect((await open.journal.head()).seq).toBe(-1);
    await open.close();
    own.remove();
  });

  it('an almost valid frame or head is refused, and nothing of it is stored', async () => {
    const own = place.make();
    const open = await own.store.open();
    const digest = 'a'.repeat(64);
    const frame = { seq: 0, at: 0, kind: 'manifest', head: digest, bytes: Uint8Array.of(1) };
    const almost = [
      ...[-1, 0.5].flatMap((n) => [{ seq: n }, { at: n }]),
      ...['', 7].map((kind) => ({ kind })),
      ...['', 'a'.repeat(63), 'a'.repeat(65), 'A'.repeat(64), `${'a'.repeat(63)}g`].map((head) => ({ head })),
      { bytes: [1] },
    ];
    for (const change of almost) {
      const appending = open.journal.append([{ ...frame, ...change } as never], EMPTY_HEAD);
      expect(await codeOf(appending), JSON.stringify(change)).toBe('invalid_argument');
    }
    for (const head of [
      { seq: -2, digest },
      { seq: 0.5, digest },
      { seq: -1, digest: `${digest}0` },
    ]) {
      expect(await codeOf(open.journal.append([frame], head)), JSON.stringify(head)).toBe('invalid_argument');
    }
    expect(await open.journal.head()).toEqual(EMPTY_HEAD);
    await open.close();
    own.remove();
  });

  it('a journal accepts infinity as the end of a range', async () => {
    const { seq } = await reading.journal.head();
    const seqs: number[] = [];
    for await (const frame of reading.journal.read(seq, Number.POSITIVE_INFINITY)) seqs.push(frame.seq);
    expect(seqs).toEqual([seq]);
    const last = await reading.journal.findLast('snapshot', Number.POSITIVE_INFINITY);
    expect(last?.kind).toBe('snapshot');
  });

  it('a log behind a link to another kind of content, or to missing content, is refused', async () => {
    const own = place.make();
    const open = await own.store.open();
    const notLogs = [
      null,
      5,
      'text',
      [],
      {},
      { count: 1 },
      { count: 'x', levels: [], tail: [] },
      { count: 1, levels: 5, tail: [] },
      { count: 1, levels: [5], tail: [] },
      { count: 1, levels: [[5]], tail: [] },
    ];
    for (const value of notLogs) {
      const ref = await putValue(open.content, value);
      const verdict = await verdictOn(() => readLog(open.content, ref).next(), JSON.stringify(value));
      expect(verdict, JSON.stringify(value)).toBe('blob_damaged');
    }
    const raw = await open.content.put(Uint8Array.of(0xff));
    expect(await verdictOn(() => readLog(open.content, raw).next(), 'raw')).toBe('invalid_bytes');
    const [text, numbers] = [await putValue(open.content, 'text'), await putValue(open.content, [1, 2])];
    for (const levels of [[[text]], [[], [text]], [[], [numbers]], [[numbers, 5]], [[numbers], 5]]) {
      const ref = await putValue(open.content, { count: 64, levels, tail: [] });
      const verdict = await verdictOn(() => readLog(open.content, ref).next(), JSON.stringify(levels));
      expect(verdict, JSON.stringify(levels)).toBe('blob_damaged');
    }
    const good = await putValue(open.content, { count: 2, levels: [], tail: ['a', 'b'] });
    await expectRefused((junk) => readLog(open.content, good, junk as never).next(), 'from', [
      'undefined',
      'zero',
      'one',
    ]);
    await expectRefused((junk) => putValue(open.content, junk), 'putValue', PUTTABLE);
    await open.close();
    own.remove();
  });

  it('an invalid query of the journal returns an error code or nothing', async () => {
    for (const [name, junk] of JUNK) {
      await verdictOn(async () => {
        for await (const _ of reading.journal.read(junk as never, 1)) break;
      }, `read ${name}`);
      await verdictOn(() => reading.journal.findLast(junk as never, 5), `findLast ${name}`);
      await verdictOn(() => reading.journal.findLast('snapshot', junk as never), `findLast at ${name}`);
      await verdictOn(() => reading.journal.findKey(junk as never), `findKey ${name}`);
    }
  });

  it('a store keeps nothing of an invalid append', async () => {
    const own = place.make();
    const open = await own.store.open();
    await expectRefused((junk) => open.journal.append(junk as never, EMPTY_HEAD), 'append', ['no list']);
    await expectRefused((junk) => open.journal.append([junk] as never, EMPTY_HEAD), 'append a frame');
    await expectRefused((junk) => open.journal.append([], junk as never), 'append after');
    expect(await open.journal.head()).toEqual(EMPTY_HEAD);
    await open.close();
    own.remove();
  });
});

/** Options that say nothing. */
const HARMLESS = [
  'undefined',
  ...JUNK.filter(([, junk]) => typeof junk === 'object' && junk !== null).map(([name]) => name),
];

/** Junk that is a value all the same. */
const NUMBERS = ['zero', 'one', 'below zero', 'infinity'];
const TEXTS = ['no text', 'text', 'a lone surrogate', 'a NUL', 'long text', 'a path', '__proto__', 'constructor'];

const PUTTABLE = [
  'null',
  'true',
  'zero',
  'one',
  'a fraction',
  'below zero',
  'beyond integers',
  'no text',
  'text',
  'a NUL',
  'long text',
  'a path',
  '__proto__',
  'constructor',
  'no list',
  'a list',
  'no fields',
  'fields',
  'a map of no class',
  'a frozen thing',
  'bytes',
  'a buffer',
];

it('a state that is read back', async () => {
  const store = memory();
  const world = await openKernelWorld({ store, app });
  await ask(world, 'x', [add(1)]);
  const state = (await world.state(cell('x'))) as { n: number };
  state.n = 99;
  expect(await world.state(cell('x'))).toMatchObject({ n: 1 });
  await closeSound(world, store, app);
});
