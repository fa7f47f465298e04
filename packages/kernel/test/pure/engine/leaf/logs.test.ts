import type { Ref, Value } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../../conformance/part.js';
import { PROGRAM_EVENTS, PROGRAM_REDUCERS, programApp } from '../../../../../testkit/src/arbitraries/index.js';
import {
  type ContentReader,
  decode,
  encode,
  FRAME_DEPTH_MAX,
  memory,
  openKernelWorld,
  toHex,
} from '../../../../src/index.js';
import { readLog, readLogLeaf } from '../../../../src/ports/content/log-reader.js';
import type { LogLeaf } from '../../../../src/pure/engine/index.js';
import { OpenLog } from '../../../../src/pure/engine/leaf/log.js';
import { hold, rerun, SEED } from '../../../support/laws/hold.js';
import { nativeHash } from '../../../support/laws/run-schedule.js';

const cell = [PROGRAM_REDUCERS.cell, 'a'] as [string, string];

/** Counts around every place where a chunk, a node of chunks or a level fills up. */
const edges = [0, 1, 31, 32, 33, 63, 64, 1_023, 1_024, 1_025, 2_048, 3_000];

/** Items of any kind; mostly small. */
const counts = fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...edges) }, { weight: 1, arbitrary: fc.nat(3_000) });
const items = counts.map((count) =>
  Array.from({ length: count }, (_, i): Value => (i % 7 === 0 ? { i, even: i % 2 === 0 } : i)),
);

interface Written {
  readonly leaf: Uint8Array;
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/** Appends an item. @returns the log after it, and the blobs that sealing made */
type Append = (log: OpenLog, item: Value) => { readonly log: OpenLog; readonly staged: ReturnType<OpenLog['append']> };

const append: Append = (log, item) => ({ staged: log.append(item, nativeHash), log });

/** An append that then changes the leaf. */
const changing =
  (change: (leaf: LogLeaf) => LogLeaf): Append =>
  (log, item) => {
    const { staged } = append(log, item);
    return { log: new OpenLog(change(log.leaf)), staged };
  };

/** Appends items in runs of these lengths; between two runs the log is written and read back, as between frames. */
function write(list: readonly Value[], runs: readonly number[], append: Append): Written {
  const blobs = new Map<string, Uint8Array>();
  let log = new OpenLog();
  let turn = 0;
  let left = runs[0] ?? 1;
  for (const item of list) {
    const appended = append(log, item);
    log = appended.log;
    for (const { ref, bytes } of appended.staged) blobs.set(ref.hex, bytes);
    if (--left > 0) continue;
    log = new OpenLog(decode(encode(log.leaf, FRAME_DEPTH_MAX)) as unknown as LogLeaf);
    left = runs[++turn % runs.length] ?? 1;
  }
  return { leaf: encode(log.leaf, FRAME_DEPTH_MAX), blobs };
}

async function read(
  { leaf, blobs }: Written,
  from: number,
  singles: readonly number[] = [],
  looked: (hex: string) => void = () => undefined,
): Promise<Value[]> {
  const log = decode(leaf) as unknown as LogLeaf;
  return collected(readLogLeaf(contentOf(blobs, looked), log, from, singles));
}

function contentOf(
  blobs: ReadonlyMap<string, Uint8Array>,
  looked: (hex: string) => void = () => undefined,
): ContentReader {
  return {
    get: async ({ hex }: Ref) => {
      looked(hex);
      return blobs.get(hex);
    },
    has: async ({ hex }: Ref) => blobs.has(hex),
    erasedBy: async () => undefined,
    erasedThrough: async () => -1,
  };
}

function lawFor(append: Append) {
  const runs = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 4 });
  const some = fc.array(fc.nat(3_100), { maxLength: 5 });
  return fc.asyncProperty(items, runs, runs, fc.nat(3_100), some, async (list, one, other, from, singles) => {
    const [first, second] = [write(list, one, append), write(list, other, append)];
    expect(toHex(first.leaf)).toBe(toHex(second.leaf));
    expect([...first.blobs.keys()]).toEqual([...second.blobs.keys()]);
    expect(toHex(encode(await read(first, from)))).toBe(toHex(encode(list.slice(from))));
    const picked = list.filter((_, index) => index >= from || singles.includes(index));
    expect(toHex(encode(await read(first, from, singles)))).toBe(toHex(encode(picked)));
  });
}

type Head = (log: OpenLog) => ReturnType<OpenLog['head']>;

const linked: Head = (log) => log.head(nativeHash);

/** Whatever is appended and linked, each head gives the log as it was, and costs what was appended since the one before. */
function headLawFor(head: Head) {
  const steps = fc.array(fc.oneof({ weight: 3, arbitrary: fc.nat(1_000) }, fc.constant('head' as const)), {
    maxLength: 200,
  });
  return fc.asyncProperty(steps, fc.nat(150), async (list, from) => {
    const blobs = new Map<string, Uint8Array>();
    const heads: { readonly ref: Ref; readonly items: readonly Value[] }[] = [];
    const appended: Value[] = [];
    let log = new OpenLog();
    for (const step of list) {
      const made = step === 'head' ? head(log) : { staged: append(log, step).staged };
      if (step !== 'head') appended.push(step);
      if ('ref' in made) heads.push({ ref: made.ref as Ref, items: [...appended] });
      for (const { ref, bytes } of made.staged) blobs.set(ref.hex, bytes);
      log = new OpenLog(decode(encode(log.leaf, FRAME_DEPTH_MAX)) as unknown as LogLeaf);
    }
    for (const { ref, items: wanted } of heads) {
      const found = await collected(readLog(contentOf(blobs), ref, from));
      expect(toHex(encode(found))).toBe(toHex(encode(wanted.slice(from))));
    }
  });
}

describe(`logs (seed ${SEED})`, () => {
  it('every head of a log gives the items up to it, whatever is appended and linked afterwards [RED-26]', async () => {
    await hold(headLawFor(linked), { numRuns: 60 / stepOf(4), command: rerun('logs.test.ts') });
  });

  it.each<[string, Head]>([
    ['is the head before it', (log) => ({ ref: log.leaf.head?.ref ?? linked(log).ref, staged: linked(log).staged })],
    [
      'forgets what was linked before',
      (log) => {
        const { head: _linked, ...leaf } = log.leaf;
        return linked(new OpenLog({ ...leaf, tail: leaf.tail.slice(-1) }));
      },
    ],
  ])('a mutant whose head %s is found', async (_, head) => {
    await expect(hold(headLawFor(head), { numRuns: 60, shrink: false, command: '' })).rejects.toThrow();
  });

  it('a head takes as many bytes as what was appended since the one before, however long the log is', async () => {
    const log = new OpenLog();
    const sizes: number[] = [];
    for (let i = 0; i < 10_000; i++) {
      append(log, { text: 'x'.repeat(200) });
      sizes.push(...linked(log).staged.map(({ bytes }) => bytes.length));
    }
    expect(Math.max(...sizes.filter((_, i) => i % 32 !== 31))).toBeLessThan(300);
    expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeLessThan(400);
    expect(linked(log).staged).toEqual([]); // nothing was appended since
  });

  it('logs return what was appended, from any index, and their shape depends on the items alone [RED-25]', async () => {
    await hold(lawFor(append), { numRuns: 60 / stepOf(4), command: rerun('logs.test.ts') });
  });

  it('logs are read without the chunks outside the requested range', async () => {
    const list = Array.from({ length: 1_100 }, (_, i): Value => i);
    const written = write(list, [1_100], append);
    const looks = async (from: number, ...singles: number[]) => {
      let looked = 0;
      await read(written, from, singles, () => looked++);
      return looked;
    };
    // 1,024 items are one node of 32 chunks, 64 more are two chunks, and the last twelve stand in the head.
    expect([await looks(1_088), await looks(1_087), await looks(1_024)]).toEqual([0, 1, 2]);
    expect([await looks(1_023), await looks(992), await looks(991)]).toEqual([4, 4, 5]);
    expect([await looks(1_088, 40), await looks(1_088, 31, 32), await looks(1_088, 1_024)]).toEqual([2, 3, 1]);
  });

  it.each<[string, Append]>([
    ['loses the first item of a tail', changing((leaf) => (leaf.tail.length === 1 ? { ...leaf, tail: [] } : leaf))],
    ['loses a tail now and then', changing((leaf) => (leaf.count % 50 === 49 ? { ...leaf, tail: [] } : leaf))],
    [
      'confuses the levels',
      changing((leaf) => (leaf.tail.length === 0 ? { ...leaf, levels: leaf.levels.toReversed() } : leaf)),
    ],
  ])('a mutant that %s is found', async (_, append) => {
    await expect(hold(lawFor(append), { numRuns: 60, shrink: false, command: '' })).rejects.toThrow();
  });

  it('a world gives them back whole, before and after a snapshot and a second opening [RED-26]', async () => {
    const store = memory({ hash: nativeHash });
    const append = (value: Value, times: number) => ({ do: 'append', log: 'first', value, times });
    const wanted: Value[] = [];
    {
      await using world = await openKernelWorld({ store, app: programApp, recheckEvery: 1 });
      for (let i = 0; i < 30; i++) {
        const times = [1, 31, 32, 33, 40, 100][i % 6] as number;
        const payload = null;
        await world.request(cell, {
          name: PROGRAM_EVENTS.made,
          value: { ops: [append(i, times), { do: 'head', log: 'first', at: ['head'] }], payload },
        });
        for (let n = 0; n < times; n++) wanted.push(i);
      }
      expect(await collected(world.log(cell, 'first'))).toEqual(wanted);
      await world.snapshot();
    }
    await using world = await openKernelWorld({ store, app: programApp });
    await world.request(cell, { name: PROGRAM_EVENTS.made, value: { ops: [append('last', 1)], payload: null } });
    expect(await collected(world.log(cell, 'first', 700))).toEqual([...wanted, 'last'].slice(700));
    const { bag } = (await world.state(cell)) as { bag: { head: Ref } };
    expect(await collected(readLog(world.content, bag.head))).toEqual(wanted); // the head that was linked stays what it was
    expect(await collected(world.log(cell, 'second'))).toEqual([]);
    await world.verify();
  });
});

async function collected(source: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = [];
  for await (const item of source) list.push(item);
  return list;
}
