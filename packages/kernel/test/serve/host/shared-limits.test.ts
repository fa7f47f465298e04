import { VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { type SharedLimit, SharedLimits } from '../../../src/serve/host/shared-limits.js';
import { isPending, turn } from '../../support/judge.js';
import { once, seen, start } from '../../support/lab.js';
import { type Call, ok, outside } from '../../support/outside.js';
import { givenHost } from './harness.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Effects that go through limits: who passed, in order, and how to end one. */
function given(...limits: SharedLimit[]) {
  const clock = new VirtualClock();
  const shared = new SharedLimits(limits, clock);
  const passed: string[] = [];
  const starts: number[] = [];
  const leaves = new Map<string, () => void>();
  const gaveUp: string[] = [];
  const enter = (world: string, what: string, signal = new AbortController().signal, kind = 'llm.generate@1') => {
    void shared
      .of(world)
      .enter(kind, signal)
      .then((leave) => {
        if (leave === undefined) return void gaveUp.push(what);
        passed.push(what);
        starts.push(clock.monotonic());
        leaves.set(what, leave);
      });
  };
  const leave = async (what: string): Promise<void> => {
    leaves.get(what)?.();
    await turn();
  };
  return { clock, shared, passed, starts, gaveUp, enter, leave };
}

describe('given a limit of two at once', () => {
  it('a third effect waits for one to end [HOST-7]', async () => {
    const { passed, enter, leave } = given({ effect: 'llm.*', concurrent: 2 });
    for (const what of ['1', '2', '3']) enter('w', what);
    await turn();
    expect(passed).toEqual(['1', '2']);
    await leave('2');
    await leave('2'); // once more gives no second place
    expect(passed).toEqual(['1', '2', '3']);
  });

  it('two worlds take turns, although one has many effects and the other one [HOST-7]', async () => {
    const { passed, enter, leave } = given({ effect: '*', concurrent: 1 });
    for (const what of ['a1', 'a2', 'a3', 'a4']) enter('a', what);
    for (const what of ['b1', 'b2']) enter('b', what);
    enter('c', 'c1');
    await turn();
    for (let i = 0; i < 7; i++) await leave(passed.at(-1) as string);
    expect(passed).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('a request that gives up while it waits overtakes no other and takes no place', async () => {
    const { passed, gaveUp, enter, leave } = given({ effect: '*', concurrent: 1 });
    const stop = new AbortController();
    enter('a', '1');
    enter('a', '2', stop.signal);
    enter('a', '3');
    enter('b', 'aborted before', AbortSignal.abort());
    stop.abort();
    await turn();
    expect(gaveUp.toSorted()).toEqual(['2', 'aborted before']);
    await leave('1');
    expect(passed).toEqual(['1', '3']);
  });

  it('an effect of another kind passes; the first limit that matches applies', async () => {
    const { passed, enter } = given({ effect: 'llm.generate@1', concurrent: 1 }, { effect: '*', concurrent: 2 });
    const { signal } = new AbortController();
    for (const what of ['1', '2']) enter('w', what);
    for (const what of ['x', 'y', 'z']) enter('w', what, signal, 'http.get@1');
    await turn();
    expect(passed).toEqual(['1', 'x', 'y']);
  });
});

describe('given a limit of three a minute', () => {
  it('at most three start within any minute, in whatever pattern they arrive, and none waits longer than necessary [HOST-7]', async () => {
    const { clock, starts, enter, shared } = given({ effect: '*', per: { ms: MINUTE, max: 3 } });
    for (let i = 0; i < 20; i++) {
      enter(`w${i % 4}`, String(i));
      await clock.advance(((i * 13) % 7) * SECOND);
    }
    await clock.advance(10 * MINUTE);
    expect(starts).toHaveLength(20);
    for (const [i, at] of starts.entries()) {
      const third = starts[i - 3];
      if (third !== undefined) expect(at - third).toBeGreaterThanOrEqual(MINUTE);
    }
    expect(starts.at(-1)).toBeLessThanOrEqual(7 * MINUTE); // twenty in threes: the last begin after six minutes
    shared.stop();
    expect(clock.sleeping).toBe(0);
  });

  it('a jump of the wall clock lets no additional effect pass', async () => {
    const { clock, passed, enter } = given({ effect: '*', per: { ms: MINUTE, max: 1 } });
    enter('w', '1');
    enter('w', '2');
    clock.jumpWall(60 * MINUTE);
    await clock.advance(MINUTE - 1);
    expect(passed).toEqual(['1']);
    await clock.advance(1);
    expect(passed).toEqual(['1', '2']);
  });
});

describe('given a host whose worlds share a limit', () => {
  it('one effect of two worlds is executed at a time', async () => {
    const adapter = outside(once);
    const { host, clock, tell } = await givenHost({
      adapters: [adapter],
      limits: [{ effect: 'lab.*', concurrent: 1 }],
    });
    await tell('a', start('call'));
    await tell('b', start('call'));
    const first = await adapter.call(0);
    await clock.settle();
    expect(adapter.calls).toHaveLength(1);
    first.answer(ok({ got: 1 }));
    (await adapter.call(1)).answer(ok({ got: 2 }));
    await clock.settle();
    for (const world of ['a', 'b']) expect(await host.use(world, (open) => seen(open, 'a'))).toEqual(['got="ok"']);
    await host.close();
  });

  it.each([
    ['answers with a rejection', (call: Call) => call.break(new Error('unplugged'))],
    ['answers with nonsense', (call: Call) => call.answer('nonsense')],
  ])('an adapter that %s gives its place to the next [HOST-7]', async (_, fails) => {
    const adapter = outside(once);
    const limits = [{ effect: 'lab.*', concurrent: 1 }];
    const { host, clock, tell } = await givenHost({ adapters: [adapter], limits });
    await tell('a', start('call'));
    await tell('b', start('call'));
    fails(await adapter.call(0));
    await clock.settle();
    expect(adapter.calls).toHaveLength(2);
    (await adapter.call(1)).answer(ok({ got: 2 }));
    await clock.settle();
    expect(await host.use('b', (open) => seen(open, 'a'))).toEqual(['got="ok"']);
    await host.close();
  });

  it('an effect that waits for the limit is cancelled when the host closes: it did not happen', async () => {
    const adapter = outside(once);
    const disk = { adapters: [adapter], limits: [{ effect: 'lab.*', concurrent: 1 }] };
    const { host, clock, tell, disk: kept } = await givenHost(disk);
    await tell('a', start('call'));
    await adapter.call(0);
    await tell('b', start('call'));
    const closed = host.close({ within: 0 });
    expect(await isPending(closed)).toBe(true); // the first does not stop when told
    await clock.advance(MINUTE);
    await closed;
    const next = await givenHost({ disk: kept });
    await clock.settle();
    expect(await next.host.use('a', (open) => seen(open, 'a'))).toEqual(['got="outcome_unknown"']);
    expect(await next.host.use('b', (open) => seen(open, 'a'))).toEqual(['got="cancelled"']);
    expect(adapter.calls).toHaveLength(1);
    await next.host.close();
  });
});
