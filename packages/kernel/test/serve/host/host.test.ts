import { RepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { type Adapter, memory, openKernelWorld, type Store, type World } from '../../../src/index.js';
import { type HostDirectory, memoryDirectory, openHost, type WorldBase } from '../../../src/serve/host/index.js';
import { codeOf, expectDocumented, expectSound, isPending, refusal } from '../../support/judge.js';
import { add, again, ask, cell, numberOf, once, start, wake } from '../../support/lab.js';
import { ok, outside } from '../../support/outside.js';
import { app, Disk, firedIn, givenHost, memoryWitness } from './harness.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe('given a host', () => {
  it('a used world is opened, and stays open until it has been idle [HOST-1]', async () => {
    const { host, disk, clock, tell } = await givenHost({ idleMs: MINUTE });
    await tell('w', add(1));
    await tell('w', add(2));
    expect([disk.open.opens, host.openCount]).toEqual([1, 1]);
    await clock.advance(MINUTE - 1);
    expect(host.openCount).toBe(1);
    await clock.advance(1);
    expect(host.openCount).toBe(0);
    expect(await host.use('w', (world) => numberOf(world, 'a'))).toBe(3);
    await host.close();
    await expectSound(disk.store('w'), app);
  });

  it('a world that several callers use at once is opened once [HOST-1]', async () => {
    const { host, disk, tell } = await givenHost();
    await Promise.all(Array.from({ length: 20 }, () => tell('w', add(1))));
    expect(disk.open.opens).toBe(1);
    expect(await host.use('w', (world) => numberOf(world, 'a'))).toBe(20);
    await host.close();
  });

  it('a world that is requested while it closes is opened again afterwards', async () => {
    const { host, disk, tell } = await givenHost({ idleMs: 0 });
    await tell('w', add(1));
    await tell('w', add(1));
    expect(await host.use('w', (world) => numberOf(world, 'a'))).toBe(2);
    expect([disk.open.most, disk.open.opens]).toEqual([1, 3]);
    await host.close();
  });

  it('a world whose store fell back behind a frame that the host has seen stays closed, and pays nothing again [HOST-11]', async () => {
    const adapter = outside(once);
    const { host, disk, clock, failures, tell } = await givenHost({ idleMs: 0, adapters: [adapter] });
    await tell('w', add(1));
    await clock.advance(1);
    const older = await copyOf(disk.store('w'));
    adapter.answerAll(() => ok({ got: 1 }));
    const invoice = (world: World) => ask(world, 'a', [start('call', 1)], { id: 'invoice-1' });
    await host.use('w', invoice);
    await clock.advance(1);
    disk.replace('w', older);
    expect(await codeOf(host.use('w', invoice))).toBe('head_mismatch');
    expect(await codeOf(host.use('w', invoice))).toBe('head_mismatch');
    expect([adapter.calls.length, host.openCount]).toEqual([1, 0]);
    expect(failures.map(({ world, error }) => [world, (error as RepriseError).code])).toContainEqual([
      'w',
      'head_mismatch',
    ]);
    await host.close();
  });

  it('a world whose store fell back while no host ran stays closed, where a witness kept its head [HOST-12]', async () => {
    const witness = memoryWitness();
    const first = await givenHost({ idleMs: 0, witness });
    await first.tell('w', add(1));
    await first.clock.advance(1);
    const older = await copyOf(first.disk.store('w'));
    await first.tell('w', add(1));
    await first.host.close();
    first.disk.replace('w', older);
    const next = await givenHost({ disk: first.disk, witness });
    expect(await codeOf(next.tell('w', add(1)))).toBe('head_mismatch');
    await next.host.close();
  });

  it('a world whose witness cannot tell stays closed, and is opened once it can [HOST-12]', async () => {
    const witness = memoryWitness();
    const { host, tell } = await givenHost({ witness });
    witness.away = true;
    expect(await codeOf(tell('w', add(1)))).toBe('store_failed');
    witness.away = false;
    await tell('w', add(1));
    expect(await host.use('w', (world) => numberOf(world, 'a'))).toBe(1);
    await host.close();
  });

  it('a head that the witness cannot keep is reported, and the world is tried again later [HOST-12]', async () => {
    const witness = memoryWitness();
    const { host, clock, failures, tell } = await givenHost({ idleMs: 0, witness });
    witness.full = true;
    await tell('w', add(1));
    await clock.advance(1);
    expect(failures.map(({ world, error }) => [world, (error as RepriseError).code])).toEqual([['w', 'store_full']]);
    witness.full = false;
    await clock.advance(HOUR);
    expect((await witness.head('w'))?.seq).toBeGreaterThanOrEqual(0);
    await host.close();
  });

  it('a leased world stays open, for any length of time [HOST-1]', async () => {
    const { host, clock } = await givenHost({ idleMs: MINUTE, maxOpen: 1 });
    const lease = await host.lease('w');
    const other = await host.lease('w');
    await clock.advance(HOUR);
    lease.release();
    lease.release(); // once more takes no other user away
    await clock.advance(HOUR);
    expect(other.world.closedBy).toBeUndefined();
    await other[Symbol.asyncDispose]();
    await clock.advance(MINUTE);
    expect(other.world.closedBy?.code).toBe('world_closed');
    await host.close();
  });

  it('a world is released when the work throws', async () => {
    const { host, clock } = await givenHost({ idleMs: 0 });
    const failing = host.use('w', () => {
      throw new Error('as told');
    });
    await expect(failing).rejects.toThrow('as told');
    await clock.settle();
    expect(host.openCount).toBe(0);
    await host.close();
  });
});

describe('given room for two worlds', () => {
  it('the world that was unused for longest makes room for a third', async () => {
    const { host, disk, tell } = await givenHost({ maxOpen: 2 });
    for (const world of ['a', 'b', 'a', 'c']) await tell(world, add(1));
    expect([disk.open.opens, disk.open.most, host.openCount]).toEqual([3, 2, 2]);
    await tell('a', add(1)); // still open: b made room
    expect(disk.open.opens).toBe(3);
    await tell('b', add(1));
    expect([disk.open.opens, disk.open.most]).toEqual([4, 2]);
    await host.close();
  });

  it('callers wait in the order of arrival when both worlds are in use, and a caller of an open world does not wait [HOST-2]', async () => {
    const { host, clock, tell } = await givenHost({ maxOpen: 2 });
    const [a, b] = [await host.lease('a'), await host.lease('b')];
    const order: string[] = [];
    const waiting = ['c', 'd', 'c'].map((world, i) => host.use(world, () => void order.push(`${world}${i}`)));
    await tell('a', add(1));
    expect(order).toEqual([]);
    a.release();
    await clock.settle();
    expect(order).toEqual(['c0', 'c2', 'd1']); // the second c finds the world open
    b.release();
    await Promise.all(waiting);
    await host.close();
  });

  it('a lease that gets no place in time is refused, and the next in line is served [HOST-2]', async () => {
    const { host, clock } = await givenHost({ maxOpen: 1, waitMs: SECOND });
    const lease = await host.lease('a');
    const late = refusal(host.use('b', () => undefined));
    await clock.advance(SECOND / 2);
    const served = host.use('c', () => 'served');
    await clock.advance(SECOND / 2);
    const error = await late;
    expect(error.code).toBe('host_busy');
    expectDocumented(error);
    lease.release();
    expect(await served).toBe('served');
    await host.close();
  });

  it('an unused world is not closed before its running effect has ended [HOST-3]', async () => {
    const adapter = outside(once);
    const { host, disk, clock, tell } = await givenHost({ maxOpen: 1, adapters: [adapter], waitMs: HOUR, idleMs: 0 });
    await tell('a', start('call'));
    const call = await adapter.call(0);
    const other = tell('b', add(1));
    await clock.advance(MINUTE);
    expect(await isPending(other)).toBe(true);
    expect(call.context.signal.aborted).toBe(false);
    call.answer(ok({ got: 1 }));
    await other;
    expect(await host.use('a', (world) => world.state(cell('a')))).toMatchObject({ seen: ['got="ok"'] });
    expect(disk.open.most).toBe(1);
    await host.close();
  });
});

describe('given timers in worlds that are closed', () => {
  it('each world is opened when its timers are due, and they fire at once [HOST-4]', async () => {
    const { host, disk, clock, tell } = await givenHost({ maxOpen: 2, idleMs: SECOND });
    const begin = clock.wall();
    const worlds = ['a', 'b', 'c', 'd', 'e'];
    for (const [i, world] of worlds.entries()) await tell(world, wake('tea', HOUR - i * MINUTE));
    await clock.advance(2 * SECOND);
    expect(host.openCount).toBe(0);
    expect(await host.worlds({ dueBefore: begin + 57 * MINUTE, limit: 10 })).toEqual([
      { world: 'd', nextWakeAt: begin + 57 * MINUTE, open: false },
      { world: 'e', nextWakeAt: begin + 56 * MINUTE, open: false },
    ]);
    await clock.advance(HOUR);
    for (const [i, world] of worlds.entries()) {
      const due = begin + HOUR - i * MINUTE;
      expect(await firedIn(disk, world)).toEqual([{ name: 'tea', due, at: due }]);
    }
    const left = await host.worlds({ limit: 10 });
    expect(left.map(({ nextWakeAt }) => nextWakeAt)).toEqual([null, null, null, null, null]);
    await host.close();
  });

  it('overdue timers fire when the host opens [HOST-4]', async () => {
    const first = await givenHost();
    await first.tell('w', wake('tea', HOUR));
    await first.host.close();
    await first.clock.advance(3 * HOUR);
    const { host, disk, clock } = await givenHost({ disk: first.disk });
    await clock.settle();
    expect(await firedIn(disk, 'w')).toHaveLength(1);
    await host.close();
  });

  it('worlds whose clock jumped to 2099 wait for a confirmation and are not opened again and again', async () => {
    const { host, disk, clock, tell } = await givenHost({ idleMs: SECOND });
    await tell('w', wake('tea', 24 * HOUR));
    await clock.advance(MINUTE);
    await host.close();
    clock.jumpWall(Date.UTC(2099, 0, 1) - clock.wall());
    const later = await givenHost({ disk, idleMs: SECOND });
    const { opens } = disk.open;
    await clock.advance(HOUR);
    expect(disk.open.opens).toBe(opens + 1);
    expect(await firedIn(disk, 'w')).toEqual([]);
    await later.host.use('w', (world) => world.confirmClock({ wall: clock.wall() }));
    await clock.settle();
    expect(await firedIn(disk, 'w')).toHaveLength(1);
    await later.host.close();
  });

  it('worlds are woken for overdue timers as soon as the time of a suspended machine has jumped', async () => {
    const { host, disk, clock, tell } = await givenHost({ idleMs: SECOND });
    await tell('w', wake('tea', HOUR));
    await clock.advance(MINUTE);
    clock.jumpWall(2 * HOUR);
    await tell('other', add(1)); // another world asks for the time
    await clock.advance(2 * SECOND);
    expect(await firedIn(disk, 'w')).toHaveLength(1);
    await host.close();
  });
});

describe('given an effect that waits for an answer from outside', () => {
  it('a world that waits for an answer may be closed, and is woken when the wait expires', async () => {
    const adapter = outside(once);
    const { host, disk, clock, tell } = await givenHost({ adapters: [adapter], idleMs: SECOND });
    const begin = clock.wall();
    await tell('w', start('call'));
    (await adapter.call(0)).answer({ status: 'deferred', expires: begin + HOUR });
    await clock.advance(2 * SECOND);
    expect(host.openCount).toBe(0);
    expect(await host.worlds({ limit: 1 })).toEqual([{ world: 'w', nextWakeAt: begin + HOUR, open: false }]);
    await clock.advance(HOUR);
    expect(await host.use('w', (world) => world.state(cell('a')))).toMatchObject({ seen: ['got="timeout"'] });
    expect(disk.open.opens).toBe(3);
    await host.close();
  });

  it('a waiting effect can be settled in a world that was closed meanwhile', async () => {
    const adapter = outside(once);
    const { host, clock, tell } = await givenHost({ adapters: [adapter], idleMs: SECOND });
    await tell('w', start('call'));
    const call = await adapter.call(0);
    call.answer({ status: 'deferred' });
    await clock.advance(MINUTE);
    expect([host.openCount, (await host.worlds({ limit: 1 }))[0]?.nextWakeAt]).toEqual([0, null]);
    const { idempotencyKey } = call.context;
    await host.use('w', (world) => world.settle(idempotencyKey, { status: 'ok', payload: { got: 7 } }));
    await clock.settle();
    expect(await host.use('w', (world) => world.state(cell('a')))).toMatchObject({ seen: ['got="ok"'] });
    await host.close();
  });
});

describe('given a world that requests a wake-up and does nothing', () => {
  it('a world that requests a wake-up and does nothing is opened later and later, with a bound', async () => {
    const open = (_: string, base: WorldBase) => openKernelWorld({ ...base, app, drive: 'manual' });
    const { host, disk, clock, tell } = await givenHost({ open, idleMs: 0 });
    await tell('w', wake('never', MINUTE));
    await clock.advance(HOUR);
    expect(disk.open.opens).toBeGreaterThan(5);
    expect(disk.open.opens).toBeLessThan(30);
    await host.close();
  });
});

describe('given a world that cannot be opened', () => {
  /** Opens every world but one, while it is told so. */
  function damagedWorld(world: string, disk: Disk) {
    const damage = { broken: true, tries: [] as number[] };
    const open = async (id: string, base: WorldBase): Promise<World> => {
      if (id !== world || !damage.broken) return openKernelWorld({ ...base, app });
      damage.tries.push(disk.clock.wall());
      throw new RepriseError('journal_damaged', 'as told');
    };
    return { damage, open };
  }

  it('the error of a world that cannot be opened goes to its caller; other worlds are served, and nothing is due [HOST-6]', async () => {
    const disk = new Disk();
    const { open } = damagedWorld('bad', disk);
    const { host, failures, tell } = await givenHost({ disk, open, maxOpen: 1 });
    expect(await codeOf(host.use('bad', () => undefined))).toBe('journal_damaged');
    await tell('good', add(1));
    expect(failures).toMatchObject([{ world: 'bad', retryAt: null }]);
    expect(await host.worlds({ limit: 10 })).toMatchObject([{ world: 'good' }]);
    await host.close();
  });

  it('a caller is not refused by an opening that began before the caller asked: it is opened once more for all who joined [HOST-19]', async () => {
    const disk = new Disk();
    const refused = new RepriseError('not_admitted', 'as told');
    const refusals: (() => void)[] = [];
    let isAdmitted = false;
    const open = async (_id: string, base: WorldBase): Promise<World> => {
      if (isAdmitted) return openKernelWorld({ ...base, app });
      await new Promise<void>((refuse) => refusals.push(refuse));
      throw refused;
    };
    const { host } = await givenHost({ disk, open });
    const visit = (): Promise<unknown> => host.use('w', () => 'in').catch((error: RepriseError) => error.code);
    const first = visit();
    await expect.poll(() => refusals.length).toBe(1);
    const joined = [visit(), visit()];
    refusals.shift()?.();
    await expect.poll(() => refusals.length).toBe(1); // one more for both
    const late = visit();
    isAdmitted = true;
    refusals.shift()?.();
    expect(await Promise.all([first, ...joined, late])).toEqual(['not_admitted', 'not_admitted', 'not_admitted', 'in']);
    await host.close();
  });

  it('a world with something due is tried again, later and later, until it opens [HOST-6]', async () => {
    const disk = new Disk();
    const { open, damage } = damagedWorld('w', disk);
    damage.broken = false;
    const { host, clock, failures, tell } = await givenHost({ disk, open, idleMs: SECOND });
    await tell('w', wake('tea', MINUTE));
    await clock.advance(2 * SECOND);
    damage.broken = true;
    await clock.advance(90 * SECOND);
    const waits = damage.tries.slice(1).map((at, i) => at - (damage.tries[i] as number));
    expect(waits).toEqual([1, 2, 4, 8, 16].map((seconds) => seconds * SECOND).slice(0, waits.length));
    expect(waits.length).toBeGreaterThanOrEqual(4);
    expect(failures).toHaveLength(damage.tries.length);
    for (const { world, retryAt } of failures) expect([world, retryAt !== null]).toEqual(['w', true]);
    damage.broken = false;
    await clock.advance(HOUR);
    expect(await firedIn(disk, 'w')).toHaveLength(1);
    await host.close();
  });

  it('a world that another process has open is woken as soon as that process has closed it', async () => {
    const { host, disk, clock, tell } = await givenHost({ idleMs: SECOND });
    await tell('w', wake('tea', MINUTE));
    await clock.advance(2 * SECOND);
    const elsewhere = await disk.store('w').open();
    await clock.advance(MINUTE);
    expect(await codeOf(host.use('w', () => undefined))).toBe('world_locked');
    await elsewhere.close();
    await clock.advance(5 * MINUTE);
    expect(await firedIn(disk, 'w')).toHaveLength(1);
    await host.close();
  });

  it('a world whose id has no place is not recorded', async () => {
    const store = (world: string): never => {
      throw new RepriseError('invalid_argument', `${world} is no tenant`);
    };
    const { host } = await givenHost({ store });
    expect(await codeOf(host.use('../../etc/passwd', () => undefined))).toBe('invalid_argument');
    expect(await host.worlds({ limit: 10 })).toEqual([]);
    await host.close();
  });
});

describe('given a world that breaks down', () => {
  it('an unused world that breaks down is reported and opened again, and its timer fires', async () => {
    const { host, disk, clock, failures, tell } = await givenHost();
    await tell('w', wake('tea', MINUTE));
    disk.failing = 'store_failed';
    await clock.advance(MINUTE);
    disk.failing = undefined;
    await clock.advance(MINUTE);
    expect(failures).toMatchObject([{ world: 'w', error: { code: 'store_failed' } }]);
    expect(await firedIn(disk, 'w')).toHaveLength(1);
    expect(disk.open.opens).toBe(2);
    await host.close();
  });

  it('a used world that breaks down is opened again for other callers when its caller has left', async () => {
    const { host, disk, clock, tell } = await givenHost();
    const lease = await host.lease('w');
    disk.failing = 'store_failed';
    expect(await codeOf(tell('w', add(1)))).toBe('store_failed');
    disk.failing = undefined;
    const other = tell('w', add(1));
    await clock.settle();
    expect(await isPending(other)).toBe(true);
    lease.release();
    await other;
    expect(await host.use('w', (world) => numberOf(world, 'a'))).toBe(1);
    await host.close();
  });
});

describe('given a world that has failed, and a caller who keeps it', () => {
  it('callers of other worlds do not wait behind those of the failed one, and these are told why they waited [HOST-2]', async () => {
    const { host, disk, clock, tell } = await givenHost({ maxOpen: 3, waitMs: SECOND });
    const lease = await host.lease('w');
    disk.failing = 'store_failed';
    expect(await codeOf(tell('w', add(1)))).toBe('store_failed');
    disk.failing = undefined;
    const [late, inTime] = [refusal(tell('w', add(1))), clock.settle().then(() => host.use('b', () => 'served'))];
    await clock.settle();
    expect(await isPending(late)).toBe(true);
    expect(await isPending(inTime)).toBe(false);
    const leases = [await host.lease('b'), await host.lease('c')];
    const behind = refusal(host.use('d', () => undefined)); // there is no room, which is another reason
    await clock.advance(SECOND);
    expect([(await late).code, (await late).details.where]).toEqual(['host_busy', 'w']);
    expect((await behind).details.actual).toBe('no room within 1000 ms');
    expectDocumented(await late);
    for (const one of [lease, ...leases]) one.release();
    await tell('w', add(1));
    await host.close();
  });
});

describe('given a host that is closed', () => {
  it('closing a host waits for worlds in use, then ends them, and refuses later callers [HOST-8]', async () => {
    const { host, clock, tell } = await givenHost({ maxOpen: 1 });
    await tell('a', add(1));
    const lease = await host.lease('a');
    const inLine = refusal(host.use('b', () => undefined));
    const closed = host.close({ within: MINUTE });
    expect(host.close()).toBe(closed);
    const error = await refusal(host.use('a', () => undefined));
    expect(error.code).toBe('host_closed');
    expectDocumented(error);
    expect((await inLine).code).toBe('host_closed');
    await clock.advance(SECOND);
    expect(await isPending(closed)).toBe(true);
    lease.release();
    await closed;
    expect(lease.world.closedBy?.code).toBe('world_closed');
  });

  it('a host is closed when the time is over, although a caller has not released its world', async () => {
    const { host, clock } = await givenHost();
    const lease = await host.lease('a');
    const closed = host.close({ within: MINUTE });
    await clock.advance(MINUTE);
    await closed;
    expect(lease.world.closedBy?.code).toBe('world_closed');
  });

  it('an effect that closing interrupted is continued by the next host at once [HOST-8]', async () => {
    const adapter = outside(once);
    const { host, disk, clock, tell } = await givenHost({ adapters: [adapter] });
    await tell('w', start('call'));
    await adapter.call(0);
    const closed = host.close({ within: SECOND });
    await clock.advance(HOUR);
    await closed;
    const next = await givenHost({ disk, adapters: [adapter] });
    await clock.settle();
    expect(disk.open.opens).toBe(2); // nobody asked for it
    const state = await next.host.use('w', (world) => world.state(cell('a')));
    expect(state).toMatchObject({ seen: ['got="outcome_unknown"'] });
    await next.host.close();
  });

  it('an idempotent effect that closing stopped is executed again by the next host at once', async () => {
    const executions: AbortSignal[] = [];
    const obedient: Adapter = {
      effect: again,
      name: 'obedient',
      doExecute: async (_params, { signal }) => {
        executions.push(signal);
        if (executions.length > 1) return ok({ got: 2 });
        await new Promise((stop) => signal.addEventListener('abort', stop));
        return { status: 'cancelled' };
      },
    };
    const { host, disk, clock, tell } = await givenHost({ adapters: [obedient] });
    await tell('w', start('callAgain'));
    await host.close({ within: 0 });
    expect(executions).toHaveLength(1);
    const next = await givenHost({ disk, adapters: [obedient] });
    await clock.settle();
    expect(executions).toHaveLength(2); // nobody asked for it
    await next.host.close();
  });

  it('the next host fires a timer that was due while the disk was full', async () => {
    const { host, disk, clock, tell } = await givenHost();
    await tell('w', wake('tea', MINUTE));
    disk.failing = 'store_full';
    await clock.advance(MINUTE);
    const closed = host.close();
    await clock.advance(MINUTE);
    await closed;
    disk.failing = undefined;
    const next = await givenHost({ disk });
    await clock.settle();
    expect(await firedIn(disk, 'w')).toHaveLength(1);
    await next.host.close();
  });

  it('a second host gets the directory after the first is closed, and not before [HOST-9]', async () => {
    const { host, disk } = await givenHost();
    expect(await codeOf(givenHost({ disk }))).toBe('world_locked');
    await host.close();
    const next = await givenHost({ disk });
    await next.host.close();
  });
});

describe('given a directory that fails', () => {
  it('a world that cannot be marked is not opened, and wake-ups continue when the directory works again', async () => {
    const disk = new Disk();
    const { directory, fails } = failingDirectory();
    const { host, clock, failures, tell } = await givenHost({ disk, directory, idleMs: SECOND });
    await tell('w', wake('tea', MINUTE));
    await clock.advance(2 * SECOND);
    fails.now = true;
    expect(await codeOf(host.use('w', () => undefined))).toBe('store_failed');
    await clock.advance(2 * MINUTE);
    expect(disk.open.opens).toBe(1);
    expect(failures.some(({ world }) => world === undefined)).toBe(true);
    fails.now = false;
    await clock.advance(MINUTE);
    expect(await firedIn(disk, 'w')).toHaveLength(1);
    await host.close();
  });
});

describe('given a directory that can be read and not written', () => {
  it('a due wake-up is tried once a second, and happens when the directory works again', async () => {
    const disk = new Disk();
    const { directory, fails } = failingDirectory(['set', 'remove']);
    const { host, clock, failures, tell } = await givenHost({ disk, directory, idleMs: SECOND });
    await tell('w', wake('tea', MINUTE));
    await clock.advance(2 * SECOND);
    fails.now = true;
    await clock.advance(MINUTE + 58 * SECOND);
    expect(failures.length).toBeGreaterThan(10);
    expect(failures.length).toBeLessThan(200);
    fails.now = false;
    await clock.advance(2 * SECOND);
    expect(await firedIn(disk, 'w')).toHaveLength(1);
    await host.close();
  });
});

/** A directory that fails while it is told to, in everything or in some of its methods. */
function failingDirectory(only?: readonly string[]): { directory: HostDirectory; fails: { now: boolean } } {
  const inner = memoryDirectory();
  const fails = { now: false };
  const open = async () => {
    const rows = await inner.open();
    return new Proxy(rows, {
      get: (target, key: keyof typeof rows) => {
        const method = target[key] as (() => unknown) | undefined;
        if (!fails.now || only?.includes(key) === false) return method?.bind(target);
        return async () => {
          throw new RepriseError('store_failed', 'as told');
        };
      },
    });
  };
  return { directory: { label: 'failing', open }, fails };
}

describe('given invalid combinations of options', () => {
  const sound = { directory: memoryDirectory(), store: () => new Disk().store('w'), open: () => undefined as never };

  it.each([
    ['nothing', undefined],
    ['no directory', { ...sound, directory: {} }],
    ['no store', { ...sound, store: 'here' }],
    ['no opener', { ...sound, open: undefined }],
    ['room for none', { ...sound, maxOpen: 0 }],
    ['half a world', { ...sound, maxOpen: 1.5 }],
    ['a time before', { ...sound, idleMs: -1 }],
    ['no time', { ...sound, waitMs: 'long' }],
    ['a limit of nothing', { ...sound, limits: [{ effect: '*' }] }],
    ['a limit of none', { ...sound, limits: [{ effect: '*', concurrent: 0 }] }],
    ['an invalid pattern', { ...sound, limits: [{ effect: 'a*b', concurrent: 1 }] }],
    ['an invalid span', { ...sound, limits: [{ effect: '*', per: { ms: 0, max: 1 } }] }],
    ['half a clock', { ...sound, clock: { wall: () => 0 } }],
    ['an invalid hook', { ...sound, onError: 'tell me' }],
  ])('the host does not open (%s)', async (_, options) => {
    expect(await codeOf(openHost(options as never))).toBe('invalid_argument');
  });

  it.each([[''], ['x'.repeat(257)], ['\ud800'], [7], [null]])('an invalid world id (%j) is refused', async (id) => {
    const { host } = await givenHost();
    expect(await codeOf(host.use(id as string, () => undefined))).toBe('invalid_argument');
    await host.close();
  });
});

/** A store with the frames of another one, as a backup or a replica that has fallen behind. */
async function copyOf(store: Store): Promise<Store> {
  const [copy, from] = [memory(), await store.openReadonly()];
  const to = await copy.open();
  for await (const frame of from.journal.read(0)) await to.journal.append([frame], await to.journal.head());
  for await (const ref of from.content.list()) await to.content.put((await from.content.get(ref)) as Uint8Array);
  await to.journal.append([], await to.journal.head());
  await Promise.all([to.close(), from.close()]);
  return copy;
}
