import { isRepriseError, Ref } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { anySchedule, programApp } from '../../../../../testkit/src/arbitraries/index.js';
import {
  creates,
  defineApp,
  defineReducer,
  openKernelWorld,
  readFrame,
  type Store,
  type World,
} from '../../../../src/index.js';
import type { WorldFrame } from '../../../../src/run/world/read/reading.js';
import { RECENT_FRAMES, RecentFrames } from '../../../../src/run/world/read/recent-frames.js';
import { memory } from '../../../../src/store.js';
import { expectSound } from '../../../support/judge.js';
import { runSchedule } from '../../../support/laws/run-schedule.js';

const SEED = 2026;
const LARGE = 1_000_000;

/** Some frames hold bytes, some hold only what can be frozen. */
function frameOf(seq: number): WorldFrame {
  const digest = new Uint8Array([seq % 256, 7]);
  const leaves = seq % 3 === 0 ? [['log', { a: digest, b: [1] }]] : [['log', { a: Ref.fromHex('00'.repeat(32)) }]];
  const records = [
    { kind: 'event', value: { n: seq, deep: [{ list: [seq] }] } },
    { kind: 'state', leaves },
  ];
  return { seq, at: seq, head: `head${seq}`, records: records as unknown as WorldFrame['records'] };
}

interface Shares {
  at(seq: number): WorldFrame | Promise<WorldFrame>;
}

/** What a run of the law draws: whether a reading fails, and which frames several watchers ask for at the same time. */
const drawn = fc.record({
  failing: fc.array(fc.nat({ max: 200 }), { maxLength: 10 }),
  large: fc.array(fc.nat({ max: 200 }), { maxLength: 5 }),
  asked: fc.array(fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 6 }), { maxLength: 30 }),
});

/** Each watcher gets the frame that it asked for, or the failure of a reading that was made for it, and its own copy. */
async function watchersHold(make: (read: Read) => Shares): Promise<void> {
  await fc.assert(
    fc.asyncProperty(drawn, async ({ failing, large, asked }) => {
      const failures = new Set(failing);
      const shares = make(async (seq) => {
        if (failures.delete(seq)) throw new Error('the disk is away for a moment');
        return { frame: frameOf(seq), length: large.includes(seq) ? LARGE : 100 };
      });
      const failedBefore = new Set<number>();
      for (const together of asked) {
        const read = await Promise.allSettled(together.map((seq) => shares.at(seq)));
        for (const [i, one] of read.entries()) {
          const seq = together[i] as number;
          if (one.status === 'rejected') expect(failedBefore).not.toContain(seq);
          else {
            expect(one.value).toEqual(frameOf(seq));
            vandalize(one.value);
          }
        }
        for (const [i, one] of read.entries()) if (one.status === 'rejected') failedBefore.add(together[i] as number);
      }
    }),
    { seed: SEED, numRuns: 150, endOnFailure: true },
  );
}

/** Changes all of a thing that can be changed. */
function vandalize(thing: unknown): void {
  if (typeof thing !== 'object' || thing === null || thing instanceof Ref) return;
  if (thing instanceof Uint8Array) thing.fill(99);
  else {
    for (const part of Object.values(thing)) vandalize(part);
    Reflect.set(thing, 'added', true);
  }
}

type Read = ConstructorParameters<typeof RecentFrames>[0];

/** Sharing with one mistake each. */
const MUTANTS: readonly (readonly [string, (read: Read) => Shares])[] = [
  ['keeps a reading that failed', (read) => sharing(read, copyOf)],
  ['gives the frame of another number', (read) => sharing(again(read), copyOf, (seq) => seq % RECENT_FRAMES)],
  ['shares what can be changed', (read) => sharing(again(read), (frame) => frame)],
];

function sharing(read: Read, shown: (frame: WorldFrame) => WorldFrame, keyOf = (seq: number) => seq): Shares {
  const known = new Map<number, ReturnType<Read>>();
  return {
    at: async (seq) => {
      const found = known.get(keyOf(seq)) ?? read(seq);
      known.set(keyOf(seq), found);
      return shown((await found).frame);
    },
  };
}

/** Reads a second time when the first reading fails. */
function again(read: Read): Read {
  return (seq) => read(seq).catch(() => read(seq));
}

function copyOf({ seq }: WorldFrame): WorldFrame {
  return frameOf(seq);
}

describe('frames that watchers share', () => {
  it(`every watcher gets the frame that it asked for, and cannot change that of another (seed ${SEED})`, async () => {
    await watchersHold((read) => new RecentFrames(read));
  });

  it.each(MUTANTS)('sharing that %s is found', async (_, mutant) => {
    await expect(watchersHold(mutant)).rejects.toThrow();
  });

  it('a value with bytes that stands twice in a frame, and in the next one, is each watcher’s own in every place', async () => {
    const value = { bytes: new Uint8Array([1]) };
    const records = [
      { kind: 'event', value },
      { kind: 'fact', value },
    ] as unknown as WorldFrame['records'];
    const frame = (seq: number): WorldFrame => ({ seq, at: seq, head: 'h', records });
    const shares = new RecentFrames(async (seq) => ({ frame: frame(seq), length: 100 }));
    for (const seq of [0, 1, 0, 1]) {
      const own = await shares.at(seq);
      expect(own.records.map((one) => (one as unknown as { value: typeof value }).value.bytes[0])).toEqual([1, 1]);
      vandalize(own);
    }
    expect(value.bytes[0]).toBe(1);
  });

  it('watchers of the newest frames share one reading of each', async () => {
    let readings = 0;
    const shares = new RecentFrames(async (seq) => {
      readings++;
      return { frame: frameOf(seq), length: 100 };
    });
    const watcher = async () => {
      for (let seq = 0; seq < 500; seq++) await shares.at(seq);
    };
    await Promise.all(Array.from({ length: 32 }, watcher));
    expect(readings).toBe(500);
    await shares.at(500 - RECENT_FRAMES);
    expect(readings).toBe(500);
    await shares.at(0);
    expect(readings).toBe(501);
  });
});

const counter = defineReducer({
  name: 'recent/Counter@1',
  state: z.strictObject({ count: z.int() }),
  events: { 'recent/Counted@1': creates(z.strictObject({})) },
  init: () => ({ count: 0 }),
  reduce(draft) {
    draft.count++;
  },
});

/** A text that differs when anything of two things does, the order of their keys included. */
function spelled(thing: unknown): string {
  return JSON.stringify(thing, (_, part) => (part instanceof Uint8Array ? { bytes: [...part] } : part));
}

/** A frame as a watcher has found it. */
interface Seen {
  readonly seq: number;
  readonly text: string;
}

/** Collects the frames of a world while it works, and until its holder dies. It changes all of each that can be changed. */
async function watched(world: World, into: Seen[]): Promise<void> {
  try {
    for await (const frame of world.frames(0)) {
      into.push({ seq: frame.seq, text: spelled(frame) });
      vandalize(frame);
    }
  } catch (error) {
    if (!isRepriseError(error, 'world_closed')) throw error;
  }
}

describe(`the frames of random worlds, watched while they are written (seed ${SEED})`, () => {
  it('each of two watchers gets of each frame what its bytes say, keys in their order, and neither can change the other one or the world', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(anySchedule({ stepsMax: 20 }), async (schedule) => {
        const seen: Seen[] = [];
        // Not awaited: the world of a holder that died says nothing more.
        const watch = (world: World) => void Promise.all([watched(world, seen), watched(world, seen)]);
        const { store } = await runSchedule(schedule, { opened: watch });
        await expectSound(store, programApp);
        const reader = await store.openReadonly();
        const read: string[] = [];
        for await (const { seq, at, head, bytes } of reader.journal.read(0))
          read.push(spelled({ seq, at, head, records: readFrame(bytes, seq).all }));
        await reader.close();
        for (const { seq, text } of seen) expect(text).toBe(read[seq]);
        compared += seen.length;
      }),
      { seed: SEED, numRuns: 60, endOnFailure: true },
    );
    expect(compared).toBeGreaterThan(500);
  });
});

describe('many watchers of a world', () => {
  it('frames that are just written are not read, and those of an earlier opening once for all', async () => {
    const read = new Map<number, number>();
    const store = countingReads(memory(), read);
    const open = () => openKernelWorld({ app: defineApp({ reducers: [counter] }), store });
    const world = await open();
    const from = world.head.seq + 1;
    const seen = Array.from({ length: 16 }, () => framesOf(world, { from, count: 40 }));
    for (let i = 0; i < 40; i++)
      await world.request(['recent/Counter@1', `c${i % 4}`], { name: 'recent/Counted@1', value: {} }, { id: `m${i}` });
    const [first, ...others] = await Promise.all(seen);
    expect(first?.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, i) => from + i));
    for (const other of others) expect(other).toEqual(first);
    expect(read.size).toBe(0);
    await world.close();

    await using later = await open();
    read.clear();
    const again = await Promise.all(Array.from({ length: 16 }, () => framesOf(later, { from, count: 40 })));
    for (const one of again) expect(one).toEqual(first);
    expect(again[0]?.map(({ seq }) => read.get(seq))).toEqual(Array.from({ length: 40 }, () => 1));
  });
});

/** A store that counts how often each frame is read. */
function countingReads(inner: Store, read: Map<number, number>): Store {
  return {
    ...inner,
    open: async () => {
      const open = await inner.open();
      const { journal } = open;
      const counted = async function* (from: number, to?: number) {
        for await (const frame of journal.read(from, to)) {
          read.set(frame.seq, (read.get(frame.seq) ?? 0) + 1);
          yield frame;
        }
      };
      return { ...open, journal: { ...journal, read: counted } };
    },
  };
}

/** Watches a world for so many frames. */
async function framesOf(world: World, { from, count }: { from: number; count: number }): Promise<WorldFrame[]> {
  const frames: WorldFrame[] = [];
  for await (const frame of world.frames(from)) if (frames.push(frame) === count) break;
  return frames;
}
