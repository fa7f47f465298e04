/** Verification in ranges: it says what a verification in one piece says, of sound worlds and of damaged ones. */
import { Ref, RepriseError } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { anySchedule, programApp, type ScheduleStep } from '../../../../testkit/src/arbitraries/index.js';
import {
  type App,
  memory,
  openKernelWorld,
  type ReadonlyStore,
  readShare,
  type VerifyOptions,
  type VerifyProgress,
  verifyRange,
  verifyStore,
} from '../../../src/index.js';
import { verifyInRanges } from '../../../src/replay/verify/walk/parallel.js';
import { fromPortable, toPortable } from '../../../src/replay/verify/walk/portable-error.js';
import { Progress } from '../../../src/replay/verify/walk/progress.js';
import type { Boundary } from '../../../src/replay/verify/walk/range.js';
import { refusal } from '../../support/judge.js';
import { ask, lab, note } from '../../support/lab.js';
import { hold, SEED } from '../../support/laws/hold.js';
import { nativeHash, runSchedule } from '../../support/laws/run-schedule.js';
import { anyDamage, type Content, contentOf, type Damage, damaged, storeWith } from './damage.js';
import { type LocalParts, localWorkers } from './local-workers.js';
import { VERSIONS } from './random-eras.js';

const COMMAND = 'npx vitest run packages/kernel/test/replay/verify/ranges.test.ts';

/** What a verification says, as data. */
async function verdict(store: ReadonlyStore, options: VerifyOptions): Promise<unknown> {
  try {
    return { report: await verifyStore(store, options) };
  } catch (error) {
    return { error: withoutStacks(toPortable(error)) };
  }
}

function withoutStacks(thing: unknown): unknown {
  if (typeof thing !== 'object' || thing === null || thing instanceof Uint8Array) return thing;
  if (Array.isArray(thing)) return thing.map(withoutStacks);
  return Object.fromEntries(
    Object.entries(thing).flatMap(([key, part]) => (key === 'stack' ? [] : [[key, withoutStacks(part)]])),
  );
}

/** A world of several eras with a snapshot at every third frame. */
async function worldOf(schedule: readonly ScheduleStep[], eras: number): Promise<Content> {
  const { store } = await runSchedule(schedule, {
    snapshotEvery: 3,
    appAt: (opening) => VERSIONS[Math.min(opening, eras - 1)] as App,
  });
  return contentOf(await store.openReadonly());
}

const APPS: readonly VerifyOptions[] = [
  { app: VERSIONS[2] as App },
  { app: VERSIONS[0] as App },
  {},
  { app: programApp, expect: 'e'.repeat(64) },
];

interface Case {
  readonly content: Content;
  readonly damages: readonly Damage[];
  readonly options: VerifyOptions;
}

/** What is held: how many ranges there were, and whether the verdict was an error. */
interface Held {
  readonly ranges: number;
  readonly code: string;
}

type Mutation = Pick<LocalParts, 'mutate'>;

/** Holds both verifications to one verdict. */
async function holdRanges({ content, damages, options }: Case, mutation: Mutation = {}): Promise<Held> {
  const store = storeWith(damaged(content, damages));
  const alone = await verdict(store, options);
  const { app } = options;
  const workers = localWorkers({ code: { apps: app === undefined ? [] : [app] }, storeOf: () => store, ...mutation });
  const together = await verdict(store, { ...options, workers });
  const [a, b] = [alone, together].map((said) => JSON.stringify(said, shown));
  if (a !== b) throw new Error(`in ranges: ${b}\nin one piece: ${a}`);
  const { error } = alone as { error?: { code?: string } };
  return { ranges: workers.tasks.length, code: error === undefined ? 'sound' : (error.code ?? 'other') };
}

function shown(_key: string, part: unknown): unknown {
  return typeof part === 'bigint' ? `${part}n` : part;
}

const cases = (schedules = anySchedule({ stepsMax: 20 })) =>
  fc.tuple(schedules, fc.integer({ min: 1, max: 3 }), fc.array(anyDamage, { maxLength: 6 }), fc.constantFrom(...APPS));

describe(`verification in ranges (seed ${SEED})`, () => {
  it('random worlds, sound and damaged: the report and the first defect are those of one piece [RPL-27]', async () => {
    const held: Held[] = [];
    const law = fc.asyncProperty(cases(), async ([schedule, eras, damages, options]) => {
      const content = await worldOf(schedule, eras);
      for (const one of [[], ...damages]) held.push(await holdRanges({ content, damages: one, options }));
    });
    await hold(law, { numRuns: 120 / stepOf(6), command: COMMAND });
    const codes = new Set(held.map(({ code }) => code));
    for (const code of [
      'sound',
      'journal_damaged',
      'replay_divergence',
      'blob_missing',
      'blob_damaged',
      'head_mismatch',
    ])
      expect(codes).toContain(code);
    expect(held.filter(({ ranges }) => ranges > 3).length).toBeGreaterThan(100 / stepOf(6));
  });

  it.each<[string, NonNullable<LocalParts['mutate']>]>([
    ['forgets missing content', (result) => (result.status === 'verified' ? { ...result, gone: [] } : result)],
    ['counts no records', (result) => (result.status === 'verified' ? { ...result, records: 0 } : result)],
    [
      'forgets its eras but the first',
      (result) => (result.status === 'verified' ? { ...result, eras: result.eras.slice(0, 1) } : result),
    ],
    ['forgets the landmarks', (result) => (result.status === 'verified' ? { ...result, newest: [] } : result)],
    [
      'has seen the expected head',
      (result) => (result.status === 'verified' ? { ...result, isExpected: true } : result),
    ],
    [
      'calls a defect at the end sound',
      async (result, { to }, { journal }) => {
        if (result.status === 'verified' || result.start === undefined || to !== undefined) return result;
        const { seq, digest } = await journal.head();
        const { start } = result;
        const rest = { records: 1, eras: [], newest: [], erased: [], lastErase: -1, gone: [], isExpected: false };
        return { status: 'verified', start, end: { ...start, seq, head: digest }, ...rest };
      },
    ],
  ])('mutant: a worker that %s is found', async (_, mutate) => {
    const law = fc.asyncProperty(cases(), async ([schedule, eras, damages, options]) => {
      const content = await worldOf(schedule, eras);
      for (const one of [[], ...damages]) await holdRanges({ content, damages: one, options }, { mutate });
    });
    await expect(hold(law, { numRuns: 200, shrink: false, command: '' })).rejects.toThrow(/in ranges: /);
  });
});

/** The frames from one snapshot of {@link notes} to the next. */
const BETWEEN_SNAPSHOTS = 10;

/** A world with two hundred notes and snapshots; other notes from a frame on. */
async function notes(otherFrom = 1_000): Promise<{ readonly app: App; readonly content: Content }> {
  const { app } = lab();
  const store = memory({ hash: nativeHash });
  let turn = 0;
  const random = (length: number) => new Uint8Array(length).fill(7);
  const clock = { wall: () => 1_000 + turn, monotonic: () => turn++, sleep: async () => undefined };
  await using world = await openKernelWorld({ store, app, snapshotEvery: BETWEEN_SNAPSHOTS, random, clock });
  for (let i = 0; i < 200; i++) {
    await ask(world, 'a', [note(world.head.seq >= otherFrom ? `other ${i}` : `n${i}`)], { id: `r${i}` });
  }
  await world.close();
  return { app, content: await contentOf(await store.openReadonly()) };
}

/** Turns a bit of frames. */
function broken(content: Content, ...seqs: readonly number[]): Content {
  return damaged(
    content,
    seqs.map((at) => ({ what: 'frame flipped', at, byte: 40 })),
  );
}

describe('the ends of ranges', () => {
  it.each([
    [2, 1, 'the long ones first'],
    [3, 1, 'the long ones first'],
    [2, 50, 'none too short to be worth a task'],
  ] as const)('ranges for %i workers, of %i frames at least, end at snapshots: %s', async (size, framesMin, _) => {
    const { app, content } = await notes();
    const store = storeWith(content);
    const workers = localWorkers({ code: { apps: [app] }, storeOf: () => store, size, framesMin });
    await verifyStore(store, { app, workers });
    const starts = workers.tasks.map(({ after }) => after);
    for (const after of starts.slice(1)) expect(content.frames[after]?.kind).toBe('snapshot');
    const lengths = starts.map((after, i) => (starts[i + 1] ?? content.frames.length - 1) - after);
    expect(lengths.length).toBeGreaterThan(size);
    expect(lengths[0]).toBeLessThan(content.frames.length / size);
    for (const length of lengths) expect(length).toBeGreaterThan(framesMin - BETWEEN_SNAPSHOTS);
    for (const [i, length] of lengths.slice(1, -1).entries())
      expect(length).toBeLessThan((lengths[i] as number) + 2 * BETWEEN_SNAPSHOTS);
    expect(lengths.at(-1)).toBeLessThan(2 * (framesMin + BETWEEN_SNAPSHOTS));
  });

  it('a journal that is too short for two ranges is verified in one piece', async () => {
    const { app, content } = await notes();
    const store = storeWith(content);
    const workers = localWorkers({ code: { apps: [app] }, storeOf: () => store, size: 2, framesMin: 150 });
    await verifyStore(store, { app, workers });
    expect(workers.tasks).toHaveLength(0);
  });

  it.each([-1, 0, 50, 150])(
    'workers that read another file from frame %i on change nothing about a verification [RPL-27]',
    async (from) => {
      const { app, content } = await notes();
      const [store, other] = [storeWith(content), storeWith((await notes(100)).content)];
      const workers = localWorkers({ code: { apps: [app] }, storeOf: (after) => (after >= from ? other : store) });
      expect(await verifyStore(store, { app, workers })).toEqual(await verifyStore(store, { app }));
    },
  );

  it.each<[string, ((end: Boundary, start: Boundary) => boolean) | undefined, boolean]>([
    ['compares the ends of ranges finds that they are of two worlds', undefined, true],
    ['forgets to compare them takes two worlds for one (mutant)', () => true, false],
    ['forgets to compare the heads takes two worlds for one (mutant)', (end, start) => end.seq === start.seq, false],
  ])('a coordinator that %s [RPL-27]', async (_, joins, isFound) => {
    const { app, content } = await notes();
    const [store, other] = [storeWith(content), storeWith((await notes(100)).content)];
    // The other world has snapshots in the same places, and another state from frame 100 on.
    const storeOf = (after: number) => (after > 120 && after < 180 ? other : store);
    const workers = localWorkers({ code: { apps: [app] }, storeOf });
    const parts = { workers, expect: undefined, progress: new Progress(0, undefined), ...(joins && { joins }) };
    expect((await verifyInRanges(store, parts)) === undefined).toBe(isFound);
    expect(await verifyStore(store, { app, workers })).toEqual(await verifyStore(store, { app }));
  });

  it('the defect of the lowest frame is reported, also when a later one is found first [RPL-28]', async () => {
    const { app, content } = await notes();
    for (const [first, second] of [
      [33, 180],
      [120, 121],
      [7, 90],
    ] as const) {
      const store = storeWith(broken(content, second, first));
      const mutate: LocalParts['mutate'] = async (result, { after }) => {
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, 40 - after / 4)));
        return result;
      };
      const workers = localWorkers({ code: { apps: [app] }, storeOf: () => store, mutate, size: 8 });
      const error = await refusal(verifyStore(store, { app, workers }));
      expect(error.details.where).toContain(`frame ${first}`);
    }
  });

  it('a worker without a result is an error, unless an earlier range has a defect [RPL-28]', async () => {
    const { app, content } = await notes();
    const ends: LocalParts['mutate'] = (result, { after }) => {
      if (after > 100) throw new RepriseError('worker_failed', 'it ended');
      return result;
    };
    const code = { apps: [app] };
    const sound = storeWith(content);
    const workers = localWorkers({ code, storeOf: () => sound, mutate: ends });
    expect(await refusal(verifyStore(sound, { app, workers }))).toMatchObject({ code: 'worker_failed' });
    const damage = storeWith(broken(content, 30));
    const others = localWorkers({ code, storeOf: () => damage, mutate: ends });
    expect((await refusal(verifyStore(damage, { app, workers: others }))).details.where).toContain('frame 30');
  });

  it('without workers that can begin the journal is verified in one piece', async () => {
    const { app, content } = await notes();
    const store = storeWith(content);
    const workers = { ...localWorkers({ code: { apps: [app] }, storeOf: () => store }), begin: async () => 0 };
    expect(await verifyStore(store, { app, workers })).toEqual(await verifyStore(store, { app }));
    expect(workers.tasks).toEqual([]);
  });

  it('the progress of all workers is one progress, and it never goes back', async () => {
    const { app, content } = await notes();
    const store = storeWith(content);
    const slow: LocalParts['mutate'] = async (result) => {
      await new Promise((resolve) => setTimeout(resolve, 250));
      return result;
    };
    const workers = localWorkers({ code: { apps: [app] }, storeOf: () => store, mutate: slow });
    const told: number[] = [];
    await verifyStore(store, { app, workers, onProgress: ({ frames }) => told.push(frames) });
    expect(told.length).toBeGreaterThan(0);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
  });

  it('the last report of a worker about a range or a share names all of it', async () => {
    const { app, content } = await notes();
    const store = storeWith(content);
    const { frames, blobs } = await verifyStore(store, { app });
    const told: { range?: Partial<VerifyProgress>; share?: Partial<VerifyProgress> } = {};
    const tell = (of: 'range' | 'share') => (progress: Partial<VerifyProgress>) => {
      told[of] = progress; // a slow machine makes reports before the last one
    };
    await verifyRange(store, { after: -1, manifest: -1 }, { apps: [app] }, tell('range'));
    await readShare(store, { part: 0, of: 1 }, tell('share'));
    expect([told.range?.frames, told.range?.blobs]).toEqual([frames, 0]);
    expect([told.share?.frames, told.share?.blobs]).toEqual([0, blobs]);
  });
});

describe('errors as data', () => {
  const ref = Ref.fromHex('a'.repeat(64), 'value');
  const thrown = new RangeError('deep', { cause: 'text' });
  const error = new RepriseError('replay_divergence', 'another fact', {
    where: 'frame 3',
    expected: { at: ref, list: [1, null, 'x', Uint8Array.of(1, 2)] },
    actual: undefined,
    cause: new RepriseError('blob_damaged', 'inner', { where: 'there', cause: thrown }),
  });

  it('an error, its details and its causes survive the way to another thread', () => {
    const back = fromPortable(structuredClone(toPortable(error))) as RepriseError;
    expect(back).toBeInstanceOf(RepriseError);
    expect(back.message).toBe(error.message);
    expect(back.details.expected).toEqual(error.details.expected);
    expect((back.details.expected as { at: Ref }).at).toBeInstanceOf(Ref);
    const inner = back.details.cause as RepriseError;
    expect([inner.code, inner.details.where]).toEqual(['blob_damaged', 'there']);
    expect(inner.cause).toMatchObject({ name: 'RangeError', message: 'deep', cause: 'text' });
  });

  it.each([undefined, null, 'text', 7, Symbol('x'), () => 1, Object.create(null), hostile()])(
    'anything that was thrown can be sent: %#',
    (thing) => {
      const portable = structuredClone(toPortable(thing));
      expect(fromPortable(portable)).toBeInstanceOf(Error);
    },
  );

  it('a cause whose fields throw is sent as text', () => {
    const outer = new RepriseError('replay_divergence', 'x', { cause: hostile() });
    expect(fromPortable(structuredClone(toPortable(outer)))).toMatchObject({ code: 'replay_divergence' });
  });
});

function hostile(): Error {
  return Object.defineProperty(new Error('x'), 'message', {
    get: () => {
      throw new Error('from the message');
    },
  });
}
