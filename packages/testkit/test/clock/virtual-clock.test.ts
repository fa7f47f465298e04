import { seededRandom, VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';

const never = new AbortController().signal;

describe('a virtual clock', () => {
  it('a virtual clock stands still until it is moved, and then both readings move', async () => {
    const clock = new VirtualClock({ wall: 1_000 });
    expect([clock.wall(), clock.monotonic()]).toEqual([1_000, 0]);
    await clock.advance(250);
    expect([clock.wall(), clock.monotonic()]).toEqual([1_250, 250]);
  });

  it('a virtual clock wakes sleepers in order, each at exactly its time', async () => {
    const clock = new VirtualClock({ wall: 0 });
    const woke: [string, number][] = [];
    const sleep = async (name: string, ms: number) => {
      await clock.sleep(ms, never);
      woke.push([name, clock.wall()]);
    };
    void sleep('late', 30);
    void sleep('early', 10);
    void sleep('middle', 20);
    expect(clock.nextWakeIn).toBe(10);
    await clock.advance(25);
    expect(woke).toEqual([
      ['early', 10],
      ['middle', 20],
    ]);
    expect(clock.sleeping).toBe(1);
    await clock.advance(5);
    expect(woke[2]).toEqual(['late', 30]);
  });

  it('a sleeper that starts within the span wakes within the span', async () => {
    const clock = new VirtualClock({ wall: 0 });
    const woke: number[] = [];
    void (async () => {
      for (let i = 0; i < 5; i++) {
        await clock.sleep(10, never);
        await new Promise((resolve) => setImmediate(resolve));
        woke.push(clock.wall());
      }
    })();
    await clock.advance(45);
    expect(woke).toEqual([10, 20, 30, 40]);
  });

  it('a virtual clock releases sleepers when their signal is aborted', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const slept = clock.sleep(10, stop.signal);
    stop.abort();
    await slept;
    expect(clock.sleeping).toBe(0);
    await clock.sleep(10, stop.signal);
    await clock.sleep(0, never);
  });

  it('a jump of the wall clock wakes no sleeper and leaves the monotonic time unchanged', async () => {
    const clock = new VirtualClock({ wall: 1_000 });
    void clock.sleep(10, never);
    clock.jumpWall(-900);
    await clock.settle();
    expect([clock.wall(), clock.monotonic(), clock.sleeping]).toEqual([100, 0, 1]);
  });

  it('a virtual clock does not advance by an invalid span', async () => {
    const clock = new VirtualClock();
    for (const ms of [-1, 0.5, Number.NaN]) await expect(clock.advance(ms)).rejects.toThrow(RangeError);
  });
});

describe('seeded random bytes', () => {
  const draw = (seed: number | string, ...lengths: number[]) => {
    const random = seededRandom(seed);
    return lengths.map((length) => Buffer.from(random(length)).toString('hex'));
  };

  it('seeded random bytes are the same for the same seed and different for another', () => {
    expect(draw('a', 32, 16, 100)).toEqual(draw('a', 32, 16, 100));
    expect(draw('a', 32)).not.toEqual(draw('b', 32));
    expect(draw(1, 32)).not.toEqual(draw('1', 32));
  });

  it('seeded random bytes have the requested length and do not repeat', () => {
    const [one, other, long] = draw('a', 32, 32, 100);
    expect(one).not.toBe(other);
    expect(long).toHaveLength(200);
    expect(new Set(long?.match(/.{8}/g)).size).toBe(25);
  });
});
