/** Many worlds and little room: every wake on time, and never more worlds open than there is room for. */
import { describe, expect, it } from 'vitest';
import { expectSound } from '../../support/judge.js';
import { add, note, wake, when } from '../../support/lab.js';
import { app, firedIn, givenHost } from './harness.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const WORLDS = 300;
const OPEN = 20;

describe('given 300 worlds and room for 20', () => {
  it('each world is woken at its times, and no more than 20 are ever open [HOST-2]', async () => {
    const { host, disk, clock, tell, failures } = await givenHost({ maxOpen: OPEN, idleMs: 10 * SECOND });
    const worlds = Array.from({ length: WORLDS }, (_, i) => `w${i}`);
    const begin = clock.wall();
    // Two wakes each: a first in the hour after the next, and one that it sets itself when it fires.
    const inMs = (i: number) => 60 * MINUTE + ((i * 7_919) % 3_600) * SECOND;
    await Promise.all(
      worlds.map((world, i) => tell(world, when('first', add(1), wake('second', 30 * MINUTE)), wake('first', inMs(i)))),
    );
    expect(disk.open.most).toBe(OPEN);
    await clock.advance(MINUTE);
    expect([host.openCount, disk.open.now]).toEqual([0, 0]);
    const { opens } = disk.open;
    await clock.advance(200 * MINUTE);
    expect(disk.open.opens - opens).toBe(2 * WORLDS);
    for (const [i, world] of worlds.entries()) {
      const first = begin + inMs(i);
      const second = first + 30 * MINUTE;
      expect(await firedIn(disk, world), world).toEqual([
        { name: 'first', due: first, at: first },
        { name: 'second', due: second, at: second },
      ]);
    }
    expect([disk.open.most, disk.open.now]).toEqual([OPEN, 0]);
    expect(failures).toEqual([]);
    await host.close();
    for (const world of worlds.slice(0, 5)) await expectSound(disk.store(world), app);
  });

  it('all worlds are woken that were due at one moment, and callers are served between them', async () => {
    const { host, disk, clock, tell } = await givenHost({ maxOpen: OPEN, idleMs: 10 * SECOND });
    const worlds = Array.from({ length: WORLDS }, (_, i) => `w${i}`);
    const begin = clock.wall();
    await Promise.all(worlds.map((world) => tell(world, wake('noon', 60 * MINUTE))));
    await clock.advance(60 * MINUTE - 1);
    expect(host.openCount).toBe(0);
    await clock.advance(1);
    await tell('visitor', note('hello'));
    await clock.advance(SECOND);
    let latest = 0;
    for (const world of worlds) {
      const [timer] = await firedIn(disk, world);
      latest = Math.max(latest, (timer?.at ?? Number.POSITIVE_INFINITY) - begin - 60 * MINUTE);
    }
    expect(latest).toBeLessThanOrEqual(SECOND);
    expect(disk.open.most).toBe(OPEN);
    await host.close();
  });
});
