import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { memory, openKernelWorld } from '../../../../src/index.js';
import { closeSound, codeOf, framesOf, recordsOf, until } from '../../../support/judge.js';
import {
  add,
  ask,
  cell,
  lab,
  note,
  numberOf,
  once,
  recurse,
  seen,
  send,
  sendMany,
  start,
  tellCell,
  wake,
  when,
} from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';
import type { StackEnd } from './stack-end-child.js';

function endless(n: number): number {
  return endless(n + 1) + 1;
}

const { app } = lab({
  *call(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'call', receipt.status);
  },
  // biome-ignore lint/correctness/useYield: it exhausts the stack before it could
  *deepAtStart(_input, plan) {
    tellCell(plan, 'never', endless(0));
  },
  *deepLater(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'never', endless(0));
  },
  *deepAtDeadline(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input), { within: 100 });
    tellCell(plan, 'never', endless(0));
  },
  *fine(_input, plan) {
    tellCell(plan, 'fine', 1);
    yield* plan.peek(plan.cell);
  },
});

async function given(options: Partial<Parameters<typeof openKernelWorld>[0]> = {}) {
  const store = memory();
  const clock = new TestClock();
  const adapter = outside(once);
  const world = await openKernelWorld({ store, app, clock, recheckEvery: 1, adapters: [adapter], ...options });
  return { store, clock, adapter, world };
}

describe("given a reducer that recurses without end, the stack ending in the reducer's code", () => {
  const deep = recurse();

  it('a request that recurses is refused as stack_exhausted and nothing is journaled [REC-3]', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [add(1)]);
    const { head } = world;
    expect(await codeOf(ask(world, 'x', [add(1), deep], { id: 'r' }))).toBe('stack_exhausted');
    expect(await codeOf(ask(world, 'x', [add(1), send('y', deep)]))).toBe('stack_exhausted');
    expect(world.head).toEqual(head);
    expect((await ask(world, 'x', [add(1)], { id: 'r' })).duplicate).toBe(false);
    expect(await numberOf(world, 'x')).toBe(2);
    await closeSound(world, store, app);
  });

  it('a timer that recurses is quarantined, its cell is unchanged, and it does not fire again [REC-2]', async () => {
    const { store, world, clock } = await given({ drive: 'manual' });
    await ask(world, 'x', [add(1), wake('bell', 10), wake('later', 20), when('bell', add(1), deep)]);
    clock.advance(30);
    await world.pump();
    const timers = await recordsOf(store, 'timer');
    expect(timers.map(({ name, quarantined }) => [name, quarantined])).toEqual([
      ['bell', true],
      ['later', undefined],
    ]);
    expect(await seen(world, 'x')).toEqual(['timer later']);
    await ask(world, 'x', [add(1)]);
    expect(await numberOf(world, 'x')).toBe(2);
    const { head } = world;
    await world.close();
    const again = await openKernelWorld({ store, app, clock, drive: 'manual' });
    await again.pump();
    expect(again.head).toEqual(head);
    await closeSound(again, store, app);
  });

  it('a receipt that leads to the recursion is quarantined, its effect is settled and its plan ended [JRN-25, REC-2]', async () => {
    const { store, world, adapter } = await given();
    await ask(world, 'x', [add(1), start('call', 1), when('call', add(1), deep)]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    const [frame = []] = (await framesOf(store)).slice(-2);
    expect(frame.map(({ kind }) => kind)).toEqual(['receipt', 'fault', 'plan_ended', 'event', 'state']);
    expect(frame[0]).toMatchObject({ quarantined: true, receipt: { status: 'ok', payload: { got: 1 } } });
    expect(await world.openEffects()).toEqual([]);
    expect([await numberOf(world, 'x'), await seen(world, 'x')]).toEqual([1, ['PlanFailed exhausted']]);
    await ask(world, 'x', [add(1)]);
    await closeSound(world, store, app);
  });
});

describe("given a reducer whose stack ends in the kernel's code", () => {
  let seenThere: StackEnd;

  beforeAll(async () => {
    const child = fileURLToPath(new URL('stack-end-child.ts', import.meta.url));
    // Optimised code has smaller frames on the stack: an end that was found before would not be the end after.
    const engine = ['--no-opt', '--no-maglev'];
    const args = [...engine, '--conditions=@reprise/source', '--import', import.meta.resolve('tsx'), child];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    seenThere = JSON.parse(stdout) as StackEnd;
  });

  it('a call of `ctx` at each depth near the end is accepted or refused as stack_exhausted; none becomes a fault, since another engine might have none [REC-3]', () => {
    expect(Object.keys(seenThere.near)).toHaveLength(4);
    for (const ended of Object.values(seenThere.near)) {
      expect(ended).toEqual({ outcomes: ['accepted', 'stack_exhausted'], faults: 0 });
    }
  });

  it('a request that recurses is refused as stack_exhausted and nothing is journaled [REC-3]', () => {
    expect(seenThere.request).toEqual({ answers: ['stack_exhausted', 'stack_exhausted'], frames: 1 });
  });

  it('a timer that recurses is quarantined, and the next one fires [REC-2]', () => {
    expect(seenThere.timers).toEqual({ bell: true, later: false });
  });

  it('a receipt that leads to the recursion is quarantined, and its plan ended [JRN-25, REC-2]', () => {
    expect(seenThere.receipt).toEqual(['receipt', 'fault', 'plan_ended', 'event', 'state']);
  });
});

describe('given a plan that recurses without end', () => {
  it('a request that starts such a plan is refused and nothing is journaled', async () => {
    const { store, world } = await given();
    const { head } = world;
    expect(await codeOf(ask(world, 'x', [start('deepAtStart')]))).toBe('stack_exhausted');
    expect(world.head).toEqual(head);
    await closeSound(world, store, app);
  });

  it('a receipt that resumes such a plan is quarantined and the plan is ended', async () => {
    const { store, world, adapter } = await given();
    await ask(world, 'x', [start('deepLater', 1)]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    expect(await recordsOf(store, 'plan_ended')).toHaveLength(1);
    expect(await world.openEffects()).toEqual([]);
    await ask(world, 'x', [add(1)]);
    await closeSound(world, store, app);
  });

  it('a deadline that resumes such a plan is quarantined, and the plan does not wait for ever [REC-2]', async () => {
    const { store, world, adapter, clock } = await given({ drive: 'manual' });
    await ask(world, 'x', [start('deepAtDeadline', 1)]);
    const pumping = world.pump();
    const call = await adapter.call(0);
    clock.advance(100);
    await until(async () => (await recordsOf(store, 'plan_ended')).length === 1);
    call.answer(ok({ got: 1 }));
    await pumping;
    expect((await recordsOf(store, 'timer'))[0]?.quarantined).toBe(true);
    expect(await world.openEffects()).toEqual([]);
    await closeSound(world, store, app);
  });
});

describe('given a cascade that exhausts the stack in a frame that continues another', () => {
  it('the continuing frame is quarantined, earlier frames stand, and no plan waits for ever', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [
      sendMany(300, 'c', add(1)),
      send('deep', add(1), recurse()),
      start('fine'),
      note('started'),
    ]);
    const frames = await framesOf(store);
    expect(frames.map(([first]) => first?.kind)).toEqual(['manifest', 'request', 'continue', 'continue']);
    expect(frames[2]?.[0]).toMatchObject({ quarantined: true });
    expect(frames[2]?.filter(({ kind }) => kind === 'fault')).toHaveLength(47); // 45 cells, the deep one, the plan
    expect(await seen(world, 'x')).toEqual(['started', 'PlanFailed exhausted']);
    expect(await numberOf(world, 'c100')).toBe(1);
    expect(await world.state(cell('c299'))).toBeUndefined();
    expect(await world.state(cell('deep'))).toBeUndefined();
    expect((await recordsOf(store, 'plan_ended')).map(({ status }) => status)).toEqual(['error']);
    await ask(world, 'x', [add(1)]);
    await closeSound(world, store, app);
  });
});
