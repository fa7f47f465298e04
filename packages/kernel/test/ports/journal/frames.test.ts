/** The form of frames, for readers of a journal without this library: checked in random worlds, and in a forged one. */
import { createHash } from 'node:crypto';
import type { JournalRecord } from '@reprise/contracts';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { anySchedule, programApp } from '../../../../testkit/src/arbitraries/index.js';
import {
  EMPTY_HEAD,
  fromHex,
  isKeyed,
  memory,
  openKernelWorld,
  readFrame,
  requestKey,
  type Store,
  type StoredFrame,
  toHex,
  verifyStore,
  writeFrame,
} from '../../../src/index.js';
import { refusal } from '../../support/judge.js';
import { add, ask, lab, send } from '../../support/lab.js';
import { hold, rerun, SEED } from '../../support/laws/hold.js';
import { nativeHash, runSchedule } from '../../support/laws/run-schedule.js';

/** What the pages about the journal list, and not what the schemas say: these are what is held here. */
const INGRESS = 'manifest request command deferred ask receipt timer attempt snapshot continue clock erase fork';
const DERIVED = 'event intent effect denial settled late fact fault plan_ended cell_command';

async function stored(store: Store): Promise<StoredFrame[]> {
  const open = await store.openReadonly();
  try {
    const frames: StoredFrame[] = [];
    for await (const frame of open.journal.read(0)) frames.push(frame);
    return frames;
  } finally {
    await open.close();
  }
}

/** A store that holds these records, with the heads that their bytes lead to. */
async function storeOf(frames: readonly (readonly JournalRecord[])[]): Promise<Store> {
  const store = memory({ hash: nativeHash });
  const open = await store.open();
  let head = EMPTY_HEAD;
  for (const [seq, records] of frames.entries()) {
    const bytes = writeFrame(records);
    const digest = toHex(nativeHash(Buffer.concat([Buffer.from(head.digest, 'hex'), nativeHash(bytes)])));
    const { ingress } = readFrame(bytes, seq);
    const key = isKeyed(ingress) ? { key: requestKey(ingress, nativeHash) } : {};
    head = await open.journal.append([{ seq, at: ingress.at, kind: ingress.kind, head: digest, bytes, ...key }], head);
  }
  await open.close();
  return store;
}

const worlds: StoredFrame[][] = [];
const random = fc.asyncProperty(anySchedule({ stepsMax: 20 }), async (schedule) => {
  worlds.push(await stored((await runSchedule(schedule)).store));
});
beforeAll(() => hold(random, { numRuns: 60, command: rerun('frames.test.ts') }));

describe(`the frames of random worlds (seed ${SEED})`, () => {
  it('a frame holds one ingress first, then what follows from it, then attempts, then the state [JRN-1]', () => {
    let derived = 0;
    for (const { bytes, seq } of worlds.flat()) {
      const kinds = readFrame(bytes, seq).all.map(({ kind }) => kind);
      expect(INGRESS.split(' ')).toContain(kinds[0]);
      const riding = kinds.indexOf('attempt', 1);
      const end = kinds.length - 1;
      expect(kinds[end]).toBe('state');
      for (const [i, kind] of kinds.slice(1, end).entries()) {
        if (riding >= 0 && i + 1 >= riding) expect(kind).toBe('attempt');
        else expect(DERIVED.split(' ')).toContain(kind);
      }
      for (const [i, record] of readFrame(bytes, seq).all.entries()) {
        if (!('c' in record)) continue;
        derived++;
        expect(record.c).toBeLessThan(i);
      }
    }
    expect(derived).toBeGreaterThan(100);
  });

  it('frames are chained: the head of each is the digest of the previous head and of the frame [JRN-2]', () => {
    expect(worlds.length).toBeGreaterThan(0);
    for (const world of worlds) {
      let before = Buffer.alloc(32);
      for (const { head, bytes } of world) {
        const own = createHash('sha256').update(bytes).digest();
        before = createHash('sha256').update(before).update(own).digest();
        expect(head).toBe(before.toString('hex'));
      }
    }
  });

  it('the first frame is a manifest that pins the app of the opening [JRN-3]', () => {
    for (const [first] of worlds) {
      const { ingress } = readFrame(first?.bytes as Uint8Array, 0);
      if (ingress.kind !== 'manifest') throw new Error(`frame 0 is a ${ingress.kind}`);
      expect([ingress.seq, ingress.world.length, ingress.seed.length]).toEqual([0, 64, 64]);
      expect(ingress.reducers.map(({ name }) => name)).toEqual([...programApp.reducers.keys()].sort());
      expect(ingress.plans.map(({ name }) => name)).toEqual([...programApp.plans.keys()].sort());
      for (const { digest } of [...ingress.reducers, ...ingress.plans, ...ingress.effects])
        expect(digest).toMatch(/^[0-9a-f]{64}$/);
    }
  });
});

describe(`plans and effects in random worlds (seed ${SEED})`, () => {
  const recordsOf = (frames: readonly StoredFrame[]) => frames.map(({ bytes, seq }) => readFrame(bytes, seq).all);

  it('every plan that began has one end at most, and none ends that did not begin [PLAN-9]', () => {
    let ends = 0;
    for (const frames of worlds) {
      const running = new Set<string>();
      for (const record of recordsOf(frames).flat()) {
        if (record.kind === 'intent') {
          expect(running).not.toContain(record.plan.join());
          running.add(record.plan.join());
        } else if (record.kind === 'plan_ended') {
          expect(['ok', 'error', 'cancelled']).toContain(record.status);
          expect(running.delete(record.plan.join())).toBe(true);
          ends++;
        }
      }
    }
    expect(ends).toBeGreaterThan(20);
  });

  it('every effect has one outcome at most; whatever comes after it is late [EFF-13]', () => {
    let settled = 0;
    for (const frames of worlds) {
      const outcomes = new Set<string>();
      for (const records of recordsOf(frames)) {
        for (const effect of outcomesIn(records)) {
          expect(outcomes).not.toContain(effect);
          outcomes.add(effect);
          settled++;
        }
      }
    }
    expect(settled).toBeGreaterThan(20);
  });

  /** The effects that a frame settles. */
  function outcomesIn(records: readonly JournalRecord[]): string[] {
    const late = records.flatMap((record) => (record.kind === 'late' ? [record.effect] : []));
    const [ingress] = records;
    const own = ingress?.kind === 'receipt' && !late.includes(ingress.effect) ? [ingress.effect] : [];
    return [...own, ...records.flatMap((record) => (record.kind === 'settled' ? [record.effect] : []))];
  }
});

describe('a journal whose heads all fit', () => {
  const { app } = lab({});

  async function written(): Promise<JournalRecord[][]> {
    const store = memory({ hash: nativeHash });
    await using world = await openKernelWorld({ store, app });
    await ask(world, 'x', [send('y', add(1))]);
    return (await stored(store)).map(({ bytes, seq }) => [...readFrame(bytes, seq).all]);
  }

  it('a changed derived record is never taken for an input: it is named beside the record that replay makes [JRN-6]', async () => {
    const frames = await written();
    const event = frames[1]?.[1] as Extract<JournalRecord, { kind: 'event' }>;
    expect(event.kind).toBe('event');
    frames[1]?.splice(1, 1, { ...event, event: { ...event.event, value: { steps: [['add', 100]] } } });
    const error = await refusal(verifyStore(await (await storeOf(frames)).openReadonly(), { app }));
    expect([error.code, error.details.where]).toEqual([
      'replay_divergence',
      expect.stringMatching(/^frame 1, record 1\b/),
    ]);
    expect([error.details.expected, error.details.actual].map(String)).toEqual(['100', '1']);
  });

  it('the leaf of the effect that an input names is written as true, and never by its id [JRN-1]', () => {
    const effect = 'ab'.repeat(32);
    const answer = { adapter: 'clerk', status: 'ok', attempts: 1 } as const;
    const frame = (id: string): readonly JournalRecord[] => [
      { kind: 'receipt', seq: 7, at: 1, principal: `adapter:${effect}`, effect, attempt: 1, receipt: answer },
      { kind: 'state', leaves: [[['effect', id], null]] },
    ];
    const bytes = writeFrame(frame(effect));
    expect(readFrame(bytes, 7).all).toEqual(frame(effect));
    expect(toHex(bytes).split(effect).length - 1).toBe(1); // in the input alone
    const other = 'cd'.repeat(32);
    const named = writeFrame(frame(other));
    expect(readFrame(named, 7).all).toEqual(frame(other));
    const forged = fromHex(toHex(named).replace(other, effect));
    expect(() => readFrame(forged, 7)).toThrow(/does not stand for the effect of the input/);
  });

  it('an unchanged journal is replayed to its head', async () => {
    const frames = await written();
    const report = await verifyStore(await (await storeOf(frames)).openReadonly(), { app });
    expect(report).toMatchObject({ replayed: 2, unverified: 0 });
  });
});
