/**
 * Readers of a world that another process writes. Adversary: appends between any two steps, hints that are lost, late, doubled
 * and without a reason, looks and reads that fail, readers that stop, journals that fall back or are written anew.
 */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Head, nextHead, portableSha256, type ReadonlyStore, type StoredFrame } from '../../../src/index.js';
import { followWith } from '../../../src/serve/follow/follow.js';

/** A journal that an adversary leads. Time passes only while a reader waits. */
class Theater {
  frames: StoredFrame[] = [];
  now = 0;
  readonly calls = new Set<() => void>();
  /** What happens at each wait; a reader that waits when nothing more happens is stopped. */
  readonly acts: (() => void)[] = [];
  readonly stop = new AbortController();
  fails = 0;
  /** Frames after which a read fails. */
  breaksAfter = Number.POSITIVE_INFINITY;
  movedTo: string | undefined;
  looks = 0;
  quiet = 0;

  append(count: number, salt = 0): void {
    this.quiet = 0;
    for (let n = 0; n < count; n++) {
      const last: Head = { seq: this.frames.length - 1, digest: this.frames.at(-1)?.head ?? '0'.repeat(64) };
      const bytes = Uint8Array.of(last.seq & 255, salt, n);
      const head = nextHead(last, bytes, portableSha256);
      this.frames.push({ seq: head.seq, at: head.seq, kind: 'request', head: head.digest, bytes });
    }
  }

  hint(): void {
    for (const call of [...this.calls]) call();
  }

  readonly clock = {
    wall: () => this.now,
    monotonic: () => this.now,
    sleep: async (ms: number, signal: AbortSignal): Promise<void> => {
      if (signal.aborted) return;
      const act = this.acts.shift();
      if (act === undefined && this.fails === 0 && this.quiet++ > 1) this.stop.abort();
      act?.();
      if (!signal.aborted) this.now += ms;
    },
  };

  get store(): ReadonlyStore {
    const fail = (): void => {
      if (this.fails <= 0) return;
      this.fails--;
      throw new RepriseError('store_failed', 'the adversary says no');
    };
    const theater = this;
    const journal = {
      head: async () => {
        this.looks++;
        fail();
        return { seq: this.frames.length - 1, digest: this.frames.at(-1)?.head ?? '0'.repeat(64) };
      },
      async *read(from: number, to = Number.POSITIVE_INFINITY) {
        for (let seq = from; seq <= to; seq++) {
          const frame = theater.frames[seq];
          if (frame === undefined) return;
          if (theater.breaksAfter-- <= 0) {
            theater.breaksAfter = Number.POSITIVE_INFINITY;
            theater.quiet = 0;
            throw new RepriseError('store_failed', 'the adversary cuts the connection');
          }
          yield { ...frame, bytes: frame.bytes.slice() };
        }
      },
      findKey: async () => undefined,
      findLast: async () => undefined,
    };
    return {
      journal,
      content: {
        get: async () => expect.fail('a reader of frames reads no content'),
      } as unknown as ReadonlyStore['content'],
      status: async () => ({ writer: 'closed', ...(this.movedTo === undefined ? {} : { movedTo: this.movedTo }) }),
      changed: (call) => {
        this.calls.add(call);
        return () => this.calls.delete(call);
      },
      close: async () => undefined,
    };
  }
}

type Follow = Parameters<typeof followWith>[2];

async function readAll(
  theater: Theater,
  options: Follow = {},
  each: (read: readonly StoredFrame[]) => void = () => undefined,
) {
  const read: StoredFrame[] = [];
  try {
    for await (const frame of followWith(theater.clock, theater.store, { signal: theater.stop.signal, ...options })) {
      read.push(frame);
      each(read);
    }
    return { read, error: undefined };
  } catch (error) {
    if (!isRepriseError(error)) throw error;
    return { read, error };
  }
}

const act = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), count: fc.nat(4), hints: fc.nat(2) }),
  fc.record({ kind: fc.constant('fail' as const), count: fc.nat(3), hints: fc.nat(1) }),
  fc.record({ kind: fc.constant('break' as const), count: fc.nat(3), hints: fc.nat(1) }),
  fc.record({ kind: fc.constant('nothing' as const), count: fc.constant(0), hints: fc.nat(2) }),
);

describe('a reader elsewhere', () => {
  it('a reader gets each durable frame once and in order, and in the end all of them, with hints and without [FLEET-16]', async () => {
    let interrupted = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(5), fc.array(act, { maxLength: 20 }), fc.nat(4), async (before, acts, from) => {
        const theater = new Theater();
        theater.append(before);
        for (const { kind, count, hints } of acts)
          theater.acts.push(() => {
            if (kind === 'append') theater.append(count);
            if (kind === 'fail') theater.fails = count;
            if (kind === 'break') theater.breaksAfter = count;
            if (kind !== 'append' && kind !== 'nothing') interrupted++;
            for (let n = 0; n < hints; n++) theater.hint();
          });
        const { read, error } = await readAll(theater, { from }, (so) => {
          if (so.length % 3 === 0) theater.append(so.length < 12 ? 1 : 0); // while the reader has a page
        });
        expect([error, read]).toEqual([undefined, theater.frames.slice(from)]);
        expect(theater.calls.size).toBe(0);
      }),
    );
    expect(interrupted).toBeGreaterThan(50);
  });

  it('a hint ends a wait, and without one a reader looks after the time between two looks', async () => {
    const theater = new Theater();
    theater.acts.push(() => {
      theater.append(1);
      theater.hint();
    });
    theater.acts.push(() => theater.append(1));
    const times: number[] = [];
    await readAll(theater, { pollMs: 700 }, () => times.push(theater.now));
    expect(times).toEqual([0, 700]);
  });

  it('a hint that comes while a reader reads is not lost', async () => {
    const theater = new Theater();
    theater.append(1);
    const times: number[] = [];
    await readAll(theater, { pollMs: 700 }, (so) => {
      times.push(theater.now);
      if (so.length > 1) return;
      theater.append(1);
      theater.hint();
    });
    expect(times).toEqual([0, 0]);
  });

  it('a reader ends with head_mismatch when the journal falls back, or is written anew behind it [FLEET-17]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.nat(8),
        fc.integer({ min: 0, max: 6 }),
        async (count, more, back) => {
          const theater = new Theater();
          theater.append(count);
          const before = [...theater.frames];
          const left = Math.max(0, count - back);
          theater.acts.push(() => {
            theater.frames = theater.frames.slice(0, left);
            theater.append(more, 7);
          });
          const { read, error } = await readAll(theater);
          const isSame = theater.frames.length >= count && back === 0;
          expect(error?.code).toBe(isSame ? undefined : 'head_mismatch');
          expect(read).toEqual(isSame ? theater.frames : before); // nothing of the other one
        },
      ),
    );
  });

  it('a reader that asks for a frame gets nothing before the journal has it, and reader_behind after its time [FLEET-18]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(6), fc.nat(6), fc.nat(5), async (has, atLeast, waits) => {
        const theater = new Theater();
        theater.append(has);
        for (let n = 0; n < waits; n++) theater.acts.push(() => theater.append(1));
        theater.acts.push(...Array.from({ length: 20 }, () => () => undefined));
        const within = 3_500;
        let first: number | undefined;
        const { error } = await readAll(theater, { atLeast, within, pollMs: 1_000 }, () => {
          first ??= theater.frames.length;
        });
        const comes = Math.min(waits, 4); // appends within 3.5 s, one a second
        if (has + comes > atLeast) expect([error, (first ?? 0) > atLeast]).toEqual([undefined, true]);
        else expect([error?.code, theater.now, first]).toEqual(['reader_behind', within, undefined]);
      }),
    );
  });

  it('a store that goes on failing ends a reader with its error, after its patience', async () => {
    const theater = new Theater();
    theater.fails = 1_000;
    const { error } = await readAll(theater, { patienceMs: 5_000, pollMs: 1_000 });
    expect([error?.code, theater.now]).toEqual(['store_failed', 5_000]);
    const behind = new Theater();
    behind.fails = 1_000;
    expect((await readAll(behind, { atLeast: 3, within: 2_000 })).error?.code).toBe('reader_behind');
  });

  it('a store that tells its head and never gives the frames before it ends a reader with its error, after its patience', async () => {
    const theater = new Theater();
    theater.append(3);
    theater.breaksAfter = 2;
    for (let n = 0; n < 100; n++)
      theater.acts.push(() => {
        theater.breaksAfter = 0;
      });
    const { read, error } = await readAll(theater, { patienceMs: 20_000 });
    expect([read.length, error?.code, theater.now]).toEqual([2, 'store_failed', 20_000]);
  });

  it('a reader of a world that moves away gets all of it, and then the place where it is', async () => {
    const theater = new Theater();
    theater.append(2);
    theater.acts.push(() => theater.append(3));
    theater.acts.push(() => {
      theater.append(1);
      theater.movedTo = 'another database';
    });
    const { read, error } = await readAll(theater);
    expect([read.length, error?.code, error?.details.actual]).toEqual([6, 'world_elsewhere', 'another database']);
  });

  it('a reader that nobody asks for more reads no further than a frame', async () => {
    const theater = new Theater();
    theater.append(1_000);
    let taken = 0;
    const store = theater.store;
    const { read } = store.journal;
    const counted = {
      ...store,
      journal: {
        ...store.journal,
        async *read(from: number, to?: number) {
          for await (const frame of read(from, to)) {
            taken++;
            yield frame;
          }
        },
      },
    };
    const frames = followWith(theater.clock, counted, {});
    for (let n = 0; n < 3; n++) await frames.next();
    expect(taken).toBe(3);
    await frames.return();
    expect(theater.calls.size).toBe(0);
  });
});
