/** Hosts that share a directory: who has a world, what happens when a host dies, and what no host does to another. */
import { describe, expect, it, vi } from 'vitest';
import { codeOf } from '../../support/judge.js';
import { add, numberOf, wake } from '../../support/lab.js';
import { type HostOnMachine, hostOn, LOOK_EVERY, SharedPlace, TTL } from './machines.js';
import { firedOn } from './shared-lives.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

async function twoHosts(options: Parameters<typeof hostOn>[1] = {}) {
  const place = new SharedPlace();
  const [a, b] = [await hostOn(place.machine('a'), options), await hostOn(place.machine('b'), options)];
  return { place, clock: place.clock, a, b };
}

async function close(...hosts: readonly HostOnMachine[]): Promise<void> {
  const [first] = hosts;
  const closed = Promise.all(hosts.map(({ host }) => host.close()));
  await first?.machine.place.clock.advance(MINUTE);
  await closed;
}

describe('given two hosts that share a directory', () => {
  it('a world that one host has open is refused to callers of the other, which neither reports nor writes anything [HOST-13, HOST-17]', async () => {
    const { place, clock, a, b } = await twoHosts({ idleMs: HOUR });
    await a.tell('w', add(1), wake('tea', MINUTE));
    for (let n = 0; n < 20; n++) expect(await codeOf(b.tell('w', add(1)))).toBe('world_locked');
    await clock.advance(10 * MINUTE);
    expect(await firedOn(place, 'w')).toHaveLength(1);
    expect([a.failures, b.failures, place.wrongs]).toEqual([[], [], []]);
    expect(await a.host.use('w', (world) => numberOf(world, 'a'))).toBe(1);
    await close(a, b);
  });

  it('a world that one host has closed is opened by the other at the next request', async () => {
    const { clock, a, b } = await twoHosts({ idleMs: 0 });
    await a.tell('w', add(1));
    await clock.settle();
    await b.tell('w', add(1));
    await clock.settle();
    expect(await a.host.use('w', (world) => numberOf(world, 'a'))).toBe(2);
    await close(a, b);
  });

  it('a timer of a world that both may wake fires once, and no host reports that the other was first [HOST-16, HOST-17]', async () => {
    const { place, clock, a, b } = await twoHosts();
    for (let n = 0; n < 20; n++) await [a, b][n % 2]?.tell(`w${n}`, wake('tea', MINUTE));
    await clock.advance(2 * MINUTE);
    for (let n = 0; n < 20; n++) expect(await firedOn(place, `w${n}`)).toHaveLength(1);
    expect(place.refused).toBeGreaterThan(0);
    expect(place.refused).toBeLessThanOrEqual(20); // who is late asks once
    expect([a.failures, b.failures, place.wrongs]).toEqual([[], [], []]);
    await close(a, b);
  });

  it('the timers of a host that dies fire at the other, which has no world of its own and nobody tells it [HOST-15, HOST-16]', async () => {
    const { place, clock, a, b } = await twoHosts({ maxOpen: 30 });
    const worlds = Array.from({ length: 40 }, (_, n) => `w${n}`);
    for (const world of worlds) await a.tell(world, wake('tea', 20 * SECOND));
    const due = clock.wall() + 20 * SECOND;
    expect(a.host.openCount).toBeGreaterThan(0); // some are open, the others closed
    a.machine.isDead = true;
    await clock.advance(20 * SECOND + TTL + LOOK_EVERY + SECOND);
    for (const world of worlds) {
      const fired = await firedOn(place, world);
      expect(fired.map(({ name }) => name)).toEqual(['tea']);
      expect((fired[0]?.at ?? 0) - due).toBeLessThanOrEqual(SECOND + TTL + LOOK_EVERY);
    }
    await close(b);
  });

  it('a dead host of many worlds is adopted as fast as they are woken, and not a few at each look [HOST-15]', async () => {
    const place = new SharedPlace();
    const [a, b] = [await hostOn(place.machine('a'), { maxOpen: 200, idleMs: HOUR }), await hostOn(place.machine('b'))];
    const worlds = Array.from({ length: 120 }, (_, n) => `w${n}`);
    for (const world of worlds) await a.tell(world, wake('tea', 2 * HOUR));
    expect((await place.rows()).filter(({ open }) => open)).toHaveLength(120);
    a.machine.isDead = true;
    await place.clock.advance(TTL + LOOK_EVERY + 3 * SECOND);
    expect((await place.rows()).filter(({ open }) => open).length).toBeLessThan(10);
    await close(b);
  });

  it('a host that is told of a change looks at once: a timer of the other one is not late when that stands still', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.99);
    const { place, clock, a, b } = await twoHosts({ idleMs: 0 });
    await clock.advance(SECOND);
    await a.tell('w', wake('tea', SECOND));
    const due = clock.wall() + SECOND;
    await clock.settle();
    a.machine.standStill(HOUR);
    await clock.advance(LOOK_EVERY);
    const fired = await firedOn(place, 'w');
    expect(fired.map(({ at }) => at - due)).toEqual([0]);
    random.mockRestore();
    await close(b);
  });

  it('the worlds of a host that stands still are taken over, and it changes nothing of them when it goes on [HOST-14]', async () => {
    const { place, clock, a, b } = await twoHosts({ idleMs: HOUR });
    await a.tell('w', add(1), wake('tea', MINUTE));
    a.machine.standStill(5 * MINUTE);
    await clock.advance(TTL + LOOK_EVERY + SECOND);
    await b.tell('w', add(1), wake('soup', 20 * MINUTE));
    await clock.advance(5 * MINUTE);
    expect(await codeOf(a.tell('w', add(1)))).toBe('world_locked');
    await clock.advance(30 * MINUTE);
    expect((await firedOn(place, 'w')).map(({ name }) => name)).toEqual(['tea', 'soup']);
    expect(await b.host.use('w', (world) => numberOf(world, 'a'))).toBe(2);
    expect(place.wrongs).toEqual([]);
    await close(a, b);
  });

  it('a host that closes leaves its worlds to the other at once', async () => {
    const { place, clock, a, b } = await twoHosts({ idleMs: HOUR });
    await a.tell('w', add(1), wake('tea', MINUTE));
    await a.host.close();
    await b.tell('w', add(1));
    expect(await b.host.use('w', (world) => numberOf(world, 'a'))).toBe(2);
    await clock.advance(2 * MINUTE);
    expect(await firedOn(place, 'w')).toHaveLength(1);
    await close(b);
  });

  it('a world that cannot be opened is tried again later and later, by one host at a time [HOST-6]', async () => {
    let tries = 0;
    const open = async (): Promise<never> => {
      tries++;
      throw new Error('as told');
    };
    const { place, clock, a } = await twoHosts({ idleMs: 0 });
    await a.tell('w', wake('tea', MINUTE));
    await clock.settle();
    a.machine.isDead = true;
    const others = [await hostOn(place.machine('c'), { open }), await hostOn(place.machine('d'), { open })];
    place.machines.find(({ name }) => name === 'b')?.standStill(2 * HOUR);
    await clock.advance(MINUTE + 10 * MINUTE);
    expect(tries).toBeGreaterThan(5);
    expect(tries).toBeLessThan(25);
    expect(others.flatMap(({ failures }) => failures).length).toBe(tries);
    expect((await place.rows()).find(({ world }) => world === 'w')?.open).toBe(false);
    await close(...others);
  });
});
