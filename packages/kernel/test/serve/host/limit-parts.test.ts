/** Limits that hosts divide: what all of them use together never exceeds one, while hosts come, die and stand still. */
import { setMaxListeners } from 'node:events';
import { VirtualClock } from '@reprise/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyNth } from '../../../../../conformance/part.js';
import { divideLimit, type HostDirectory, memoryDirectory, type SharedRows } from '../../../src/serve/host/index.js';
import { LimitRounds } from '../../../src/serve/host/limit-parts.js';
import { type SharedLimit, SharedLimits } from '../../../src/serve/host/shared-limits.js';
import { SEED } from '../../pure/codec/seed.js';

const TTL = 4_000;
const SECOND = 1_000;

/** Two limits: of places, and of starts in a time that is longer than a lease. */
const PLACES = 5;
const STARTS = { ms: 10 * SECOND, max: 7 };
const LIMITS: readonly SharedLimit[] = [
  { effect: 'one@1', concurrent: PLACES },
  { effect: 'two@1', per: STARTS },
];

/** An effect that has started. */
interface Started {
  readonly host: HostOfLimits;
  readonly kind: string;
  readonly at: number;
  /** The lease of its host under which it started: a later one is about others. */
  readonly lease: number;
  ended: boolean;
}

class Hosts {
  readonly clock = new VirtualClock({ turns: 6 });
  readonly directory: HostDirectory = memoryDirectory({ shared: true, ttl: TTL, clock: this.clock });
  readonly started: Started[] = [];
  readonly wrongs: string[] = [];

  /** Called at each start: what all hosts together use. */
  check(kind: string): void {
    const now = this.clock.monotonic();
    const those = this.started.filter((one) => one.kind === kind);
    const underWay = those.filter(
      ({ ended, host, lease }) => !ended && host.lease === lease && host.heardAt + TTL > now,
    ).length;
    const starts = those.filter(({ at }) => at > now - STARTS.ms).length;
    if (kind === 'one@1' && underWay > PLACES) this.wrongs.push(`${underWay} at once at ${now}`);
    if (kind === 'two@1' && starts > STARTS.max) this.wrongs.push(`${starts} starts at ${now}`);
  }

  async begin(limits = LIMITS, change: (shared: SharedRows) => SharedRows = (shared) => shared): Promise<HostOfLimits> {
    const open = await this.directory.open();
    const host = new HostOfLimits(this, {
      limits,
      shared: change(open.shared as SharedRows),
      close: () => open.close(),
    });
    host.rounds.ask();
    await this.clock.settle();
    return host;
  }
}

/** The limits of one host, without its worlds. */
class HostOfLimits {
  heardAt: number;
  lease = 0;
  isDead = false;
  #standsUntil = 0;
  failsUntil = 0;
  readonly limits: SharedLimits;
  readonly rounds: LimitRounds;
  readonly #stop = new AbortController();

  constructor(
    readonly hosts: Hosts,
    private readonly parts: { limits: readonly SharedLimit[]; shared: SharedRows; close(): Promise<void> },
  ) {
    const { clock } = hosts;
    this.heardAt = clock.monotonic();
    setMaxListeners(0, this.#stop.signal);
    this.limits = new SharedLimits(parts.limits, clock, true);
    const shared: SharedRows = {
      ...parts.shared,
      share: async (uses) => {
        await this.running();
        if (clock.monotonic() < this.failsUntil && this.failsUntil % 2 === 0) throw new Error('not asked');
        const fails = clock.monotonic() < this.failsUntil;
        if (this.heardAt + TTL <= clock.monotonic()) this.lease++;
        this.heardAt = clock.monotonic();
        const answer = await parts.shared.share(uses);
        await this.running();
        if (fails) throw new Error('not answered');
        return answer;
      },
    };
    this.rounds = new LimitRounds({ shared, limits: this.limits, clock, random: () => 0.5, failed: () => undefined });
  }

  async running(): Promise<void> {
    const { clock } = this.hosts;
    while (clock.monotonic() < this.#standsUntil)
      await clock.sleep(this.#standsUntil - clock.monotonic(), new AbortController().signal);
    if (this.isDead) await new Promise(() => undefined);
  }

  standStill(ms: number): void {
    this.#standsUntil = this.hosts.clock.monotonic() + ms;
  }

  /** An effect that takes this long once it may start. */
  async use(kind: string, ms: number): Promise<void> {
    const { hosts } = this;
    if (hosts.clock.monotonic() < this.#standsUntil) return; // a process that stands still asks for nothing
    const leave = await this.limits.of('w').enter(kind, this.#stop.signal);
    if (leave === undefined || this.isDead) return;
    if (this.heardAt + TTL <= hosts.clock.monotonic()) hosts.wrongs.push('a start without a lease');
    const started: Started = { host: this, kind, at: hosts.clock.monotonic(), lease: this.lease, ended: false };
    hosts.started.push(started);
    hosts.check(kind);
    await hosts.clock.sleep(ms, new AbortController().signal);
    await this.running();
    started.ended = true;
    leave();
  }

  die(): void {
    this.isDead = true;
    this.#stop.abort();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.limits.stop();
    await this.rounds.stop();
    await this.parts.close();
  }
}

type Act = 'use one' | 'use two' | 'begin' | 'die' | 'stand still' | 'fail before' | 'fail after' | 'nothing';

const life = fc.array(
  fc.record({
    act: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom<Act>('use one', 'use two') },
      { weight: 2, arbitrary: fc.constantFrom<Act>('begin', 'die', 'stand still', 'fail before', 'fail after') },
      { weight: 1, arbitrary: fc.constant<Act>('nothing') },
    ),
    host: fc.nat(9),
    count: fc.integer({ min: 1, max: 8 }),
    ms: fc.constantFrom(100, SECOND, 3 * SECOND, 3 * TTL, 6 * TTL),
    afterMs: fc.constantFrom(0, 0, 100, SECOND, TTL / 2, TTL, 3 * TTL),
  }),
  { minLength: 30, maxLength: 90 },
);

type Life = typeof life extends fc.Arbitrary<infer T> ? T : never;

/** Lives a life. @returns what exceeded a limit, and how many effects started */
async function live(happenings: Life, change?: (shared: SharedRows) => SharedRows) {
  const all = new Hosts();
  const living: HostOfLimits[] = [await all.begin(LIMITS, change), await all.begin(LIMITS, change)];
  for (const { act, host: n, count, ms, afterMs } of happenings) {
    const host = living[n % living.length];
    if (host === undefined || (act === 'begin' && living.length < 5)) living.push(await all.begin(LIMITS, change));
    else if (act === 'use one' || act === 'use two')
      for (let i = 0; i < count; i++) void host.use(act === 'use one' ? 'one@1' : 'two@1', ms);
    else if (act === 'die') {
      host.die();
      living.splice(n % living.length, 1);
    } else if (act === 'stand still') host.standStill(ms);
    else if (act === 'fail before' || act === 'fail after')
      host.failsUntil = Math.floor(all.clock.monotonic() / 2) * 2 + ms + (act === 'fail after' ? 1 : 0);
    await all.clock.advance(afterMs);
  }
  await all.clock.advance(10 * TTL);
  return { wrongs: all.wrongs, started: all.started.length };
}

const lives = (numRuns: number): readonly Life[] => everyNth(3, fc.sample(life, { seed: SEED, numRuns }));

describe(`given hosts that divide limits (seed ${SEED})`, () => {
  it('all of them together never exceed a limit, while hosts begin, die, stand still and are not answered [HOST-18]', async () => {
    let started = 0;
    for (const [i, happenings] of lives(120).entries()) {
      const outcome = await live(happenings);
      expect(outcome.wrongs, `life ${i}`).toEqual([]);
      started += outcome.started;
    }
    expect(started).toBeGreaterThan(1_000);
  });

  const found = async (change: (shared: SharedRows) => SharedRows): Promise<boolean> => {
    for (const happenings of fc.sample(life, { seed: SEED, numRuns: 15 }))
      if ((await live(happenings, change)).wrongs.length > 0) return true;
    return false;
  };

  it.each<readonly [string, (shared: SharedRows) => SharedRows]>([
    [
      'give up what they still use',
      (shared) => ({ ...shared, share: (uses) => shared.share(uses.map((use) => ({ ...use, held: 0 }))) }),
    ],
    [
      'count nothing of a dead one',
      (shared) => ({ ...shared, share: (uses) => shared.share(uses.map((use) => ({ ...use, countsFor: 0 }))) }),
    ],
    [
      'believe in their parts for ever',
      (shared) => ({
        ...shared,
        share: async (uses) => ({ allowed: (await shared.share(uses)).allowed, holds: () => true }),
      }),
    ],
    [
      'have a part each that is the whole',
      (shared) => ({
        ...shared,
        share: async (uses) => ({ ...(await shared.share(uses)), allowed: uses.map(({ max }) => max) }),
      }),
    ],
  ])('mutant: hosts that %s are found to exceed a limit', async (_, change) => {
    expect(await found(change)).toBe(true);
  });

  it('three hosts take turns at a limit of one place, and one of them has it at a time [HOST-18]', async () => {
    const all = new Hosts();
    const one: readonly SharedLimit[] = [{ effect: 'one@1', concurrent: 1 }];
    const three = [await all.begin(one), await all.begin(one), await all.begin(one)];
    for (const host of three) for (let n = 0; n < 600; n++) void host.use('one@1', SECOND);
    let most = 0;
    for (let n = 0; n < 40 * 10; n++) {
      await all.clock.advance(TTL / 10);
      most = Math.max(most, all.started.filter(({ ended }) => !ended).length);
    }
    const counts = three.map((host) => all.started.filter((started) => started.host === host).length);
    expect(most).toBe(1);
    for (const count of counts) expect(count).toBeGreaterThan(15);
  });

  it('a host that is alone has the whole limit, and half of it when another has come [HOST-18]', async () => {
    const all = new Hosts();
    const first = await all.begin();
    for (let n = 0; n < 20; n++) void first.use('one@1', 60 * SECOND);
    await all.clock.advance(SECOND);
    expect(all.started).toHaveLength(PLACES);
    const second = await all.begin();
    for (let n = 0; n < 20; n++) void second.use('one@1', 60 * SECOND);
    await all.clock.advance(59 * SECOND); // the effects of the first one end, and it begins as many as it may
    await all.clock.advance(TTL * 3);
    const running = [first, second].map((host) => all.started.filter((one) => one.host === host && !one.ended).length);
    expect(running.toSorted()).toEqual([2, 3]);
    await second.close();
    await all.clock.advance(60 * SECOND + TTL * 3);
    expect(all.started.filter(({ ended, host }) => !ended && host === first)).toHaveLength(PLACES);
  });
});

describe('the part of one host', () => {
  it('parts are fair, add up to the limit, and the rest goes round [HOST-18]', () => {
    for (let max = 1; max <= 7; max++)
      for (let hosts = 1; hosts <= 9; hosts++) {
        const parts = Array.from({ length: hosts }, (_, place) =>
          divideLimit({ max, held: 0, others: 0, hosts, place }),
        );
        const allowed = parts.map((part) => part.allowed);
        expect(allowed.reduce((sum, part) => sum + part, 0)).toBe(max);
        expect(Math.max(...allowed) - Math.min(...allowed)).toBeLessThanOrEqual(1);
      }
  });

  it('a second limit of the same pattern never applies, so no part of it is asked for: a directory knows each name once', () => {
    const twice = [
      { effect: 'one@1', concurrent: 2 },
      { effect: 'one@1', concurrent: 9 },
    ];
    const limits = new SharedLimits(twice, new VirtualClock({ turns: 6 }), true);
    expect(limits.uses()).toEqual([{ limit: 'one@1 at once', max: 2, held: 0, countsFor: 0 }]);
  });

  it('a host keeps what it holds, is allowed no more than is left, and never less than nothing', () => {
    const given = { max: 10, hosts: 2, place: 0 };
    expect(divideLimit({ ...given, held: 8, others: 2 })).toEqual({ allowed: 5, reserved: 8 });
    expect(divideLimit({ ...given, held: 1, others: 8 })).toEqual({ allowed: 2, reserved: 2 });
    expect(divideLimit({ ...given, held: 0, others: 10 })).toEqual({ allowed: 0, reserved: 0 });
    expect(divideLimit({ ...given, held: 0, others: 12 })).toEqual({ allowed: 0, reserved: 0 });
  });
});
