/**
 * Guards of speed and size with room for a noisy machine: they find a cost that grows with a session, or that is several
 * times what it was, and nothing finer. `npm run bench` measures.
 */
import { createHash } from 'node:crypto';
import { decode } from 'cbor-x';
import { defineAgent, defineTool, openWorld } from 'reprise';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  openKernelWorld,
  type Store,
} from 'reprise/kernel';
import { script } from 'reprise/providers';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

const TURNS = 60;
const EFFECTS = 1_000;
const text = Array.from({ length: 150 }, (_, i) => `word${(i * 7_919) % 1_000}`).join(' ');

const read = defineTool({
  name: 'read',
  description: 'Reads a chapter.',
  args: z.strictObject({ chapter: z.string() }),
  run: ({ chapter }) => `${chapter}: ${text}`,
});
const clerk = defineAgent({
  name: 'clerk',
  model: 'main',
  instructions: 'Answer.',
  tools: [read],
  limits: { steps: 8 },
});
const main = script(
  ...Array.from({ length: TURNS }, () => [
    { calls: [{ tool: 'read', args: { chapter: '7' } }] },
    { text: `The answer: ${text}` },
  ]).flat(),
);

/** CPU milliseconds of the best of some rounds. */
async function best(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6; round++) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

async function framesOf(store: Store): Promise<Uint8Array[]> {
  const open = await store.openReadonly();
  const frames: Uint8Array[] = [];
  for await (const { bytes } of open.journal.read(0)) frames.push(bytes);
  await open.close();
  return frames;
}

describe('the cost of a turn beside its floor', () => {
  const store = memory();
  let verify = 0;
  let frames: readonly Uint8Array[] = [];

  beforeAll(async () => {
    await using world = await openWorld({ store, models: { main }, agents: [clerk] });
    for (let turn = 0; turn < TURNS; turn++) {
      const run = await world.session('s', clerk).send(`Question ${turn}`, { id: `m${turn}` });
      await run.text();
    }
    verify = await best(() => world.verify());
    frames = await framesOf(store);
  });

  it('verification costs less than 120 times as much as decoding and hashing the frames', async () => {
    const floor = await best(() => {
      for (const bytes of frames) {
        decode(bytes);
        createHash('sha256').update(bytes).digest();
      }
    });
    expect(verify / floor).toBeLessThan(120);
  });

  it('a turn takes at most 6,500 bytes of frames, and the last turns no more than the first', () => {
    const sizes = frames.map(({ length }) => length);
    const bytes = (list: readonly number[]) => list.reduce((sum, size) => sum + size, 0);
    expect(bytes(sizes) / TURNS).toBeLessThan(6_500);
    const quarter = Math.floor(sizes.length / 4);
    expect(bytes(sizes.slice(-quarter)) / bytes(sizes.slice(quarter, 2 * quarter))).toBeLessThan(1.1);
  });
});

const note = defineEffect({
  kind: 'speed.note@1',
  params: z.strictObject({ n: z.int() }),
  receipt: z.strictObject({ n: z.int() }),
});
const work = definePlan({
  name: 'speed/work@1',
  input: z.strictObject({ left: z.int(), inOne: z.int() }),
  effects: [note],
  *run({ left, inOne }, plan) {
    for (let n = 0; n < inOne; n++) yield* plan.awaitReceipt(plan.emitEffect(note, { n }));
    if (left > inOne) plan.continueAs({ left: left - inOne, inOne });
  },
});
const worker = defineReducer({
  name: 'speed/Worker@1',
  state: z.strictObject({}),
  events: { 'speed/Asked@1': creates(z.strictObject({ inOne: z.int() })) },
  init: () => ({}),
  reduce(_draft, event, ctx) {
    ctx.emit({ plan: work, input: { left: EFFECTS, inOne: event.value.inOne } });
  },
});
const effects = defineApp({ reducers: [worker], plans: [work] });

/** A world of effects, in plans of so many awaits each, and its replay. */
async function replayOf(inOne: number) {
  const store = memory();
  const adapter = { effect: note, name: 'noter', doExecute: async ({ n }: { n: number }) => okay(n) };
  const world = await openKernelWorld({ store, app: effects, adapters: [adapter] });
  await world.request(['speed/Worker@1', 'w'], { name: 'speed/Asked@1', value: { inOne } }, { id: 'm' });
  await world.pump();
  return () => best(() => world.verify());
}

const okay = (n: number) => ({ status: 'ok' as const, payload: { n } });

describe('the cost of an effect', () => {
  it('an effect late in a plan of 250 awaits costs about as much to replay as in plans of 25', async () => {
    const [long, short] = [await replayOf(250), await replayOf(25)];
    const ratios: number[] = [];
    for (let round = 0; round < 4; round++) ratios.push((await long()) / (await short()));
    expect(Math.min(...ratios)).toBeLessThan(1.4);
  });
});
