/**
 * Reducers whose stack ends inside the kernel, on plain Node: the test runner reads every import through a getter that
 * catches what is thrown, so there the end of the stack may come as a TypeError. Prints what was seen, as JSON.
 */
import { isRepriseError } from '@reprise/contracts';
import { memory, openKernelWorld, readFrame, type Store, type World } from '../../../../src/index.js';
import {
  add,
  cell,
  deepDown,
  fact,
  lab,
  log,
  once,
  recurseCalling,
  type Step,
  send,
  start,
  tellCell,
  wake,
  when,
} from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

/** What the parent test reads. */
export interface StackEnd {
  /** For each call of `ctx`: how requests at depths about the end of the stack went, and how many faults they left. */
  readonly near: Readonly<Record<string, { readonly outcomes: readonly string[]; readonly faults: number }>>;
  /** How a request that recurses for ever is answered, and the frames that it leaves. */
  readonly request: { readonly answers: readonly string[]; readonly frames: number };
  /** Whether each timer that fired is quarantined. */
  readonly timers: Readonly<Record<string, boolean>>;
  /** The records of the frame of a receipt whose delivery recurses. */
  readonly receipt: readonly string[];
}

const CALLED: Readonly<Record<string, Step>> = {
  'ctx.record()': fact('word'),
  'ctx.append()': log('item'),
  'ctx.send()': send('y', add(1)),
  'ctx.emit()': start('fine'),
};

const { app } = lab({
  *call(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'call', 1);
  },
  *fine(_input, plan) {
    yield* plan.peek(plan.cell);
  },
});

/** No second fold: it stands at another depth of the stack, and a frame that fitted once need not fit again. */
const OPTIONS = { app, recheckEvery: 0, drive: 'manual' } as const;

async function outcome(world: World, steps: readonly Step[]): Promise<string> {
  try {
    await world.request(cell('x'), { name: 'lab/Do@1', value: { steps: [...steps] } });
    return 'accepted';
  } catch (error) {
    return isRepriseError(error) ? error.code : String(error);
  }
}

async function records(store: Store) {
  const { journal, close } = await store.openReadonly();
  const frames = [];
  for await (const { bytes, seq } of journal.read(0)) frames.push(readFrame(bytes, seq).all);
  await close();
  return frames;
}

/** The smallest depth, about, at which the step is not accepted. */
async function endOfStack(world: World, step: Step): Promise<number> {
  const fits = async (calls: number) => (await outcome(world, [deepDown(calls, step)])) === 'accepted';
  let [low, high] = [0, 1_024];
  while (await fits(high)) high *= 2;
  while (high - low > 8) {
    const middle = (low + high) >> 1;
    if (await fits(middle)) low = middle;
    else high = middle;
  }
  return high;
}

/** Walks over the end of the stack, at each depth. The engine may move the end meanwhile, so the walk looks again. */
async function nearTheEnd(step: Step): Promise<StackEnd['near'][string]> {
  const store = memory();
  const world = await openKernelWorld({ ...OPTIONS, store });
  const outcomes = new Set<string>();
  for (let walk = 0; walk < 10 && outcomes.size < 2; walk++) {
    const end = await endOfStack(world, step);
    for (let calls = end + 40; calls > end - 120; calls--) outcomes.add(await outcome(world, [deepDown(calls, step)]));
  }
  await world.close();
  const faults = (await records(store)).flat().filter(({ kind }) => kind === 'fault').length;
  return { outcomes: [...outcomes].sort(), faults };
}

async function endlessRequest(): Promise<StackEnd['request']> {
  const store = memory();
  const world = await openKernelWorld({ ...OPTIONS, store });
  const deep = recurseCalling();
  const answers = [await outcome(world, [add(1), deep]), await outcome(world, [add(1), send('y', deep)])];
  await world.close();
  return { answers, frames: (await records(store)).length };
}

async function endlessTimer(): Promise<StackEnd['timers']> {
  const store = memory();
  const clock = new TestClock();
  const world = await openKernelWorld({ ...OPTIONS, store, clock });
  await outcome(world, [wake('bell', 10), wake('later', 20), when('bell', recurseCalling())]);
  clock.advance(30);
  await world.pump();
  await world.close();
  const timers = (await records(store)).flat().flatMap((record) => (record.kind === 'timer' ? [record] : []));
  return Object.fromEntries(timers.map(({ name, quarantined }) => [name, quarantined === true]));
}

async function endlessReceipt(): Promise<StackEnd['receipt']> {
  const store = memory();
  const adapter = outside(once);
  const world = await openKernelWorld({ ...OPTIONS, store, adapters: [adapter] });
  await outcome(world, [start('call', 1), when('call', recurseCalling())]);
  const pumping = world.pump();
  (await adapter.call(0)).answer(ok({ got: 1 }));
  await pumping;
  await world.pump();
  await world.close();
  const frame = (await records(store)).find(([first]) => first?.kind === 'receipt') ?? [];
  return frame.map(({ kind }) => kind);
}

const near: Record<string, StackEnd['near'][string]> = {};
for (const [name, step] of Object.entries(CALLED)) near[name] = await nearTheEnd(step);
const seen: StackEnd = {
  near,
  request: await endlessRequest(),
  timers: await endlessTimer(),
  receipt: await endlessReceipt(),
};
console.log(JSON.stringify(seen));
