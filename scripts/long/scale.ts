/**
 * Long form: a million records in a hundred thousand cells. Opening must cost the tail only, verification must stay
 * in bounded memory, and the replay rate is printed beside a raw scan of the same frames in the same run.
 *
 * Run: npx tsx --conditions=@reprise/source scripts/long/scale.ts [--records N] [--cells N] [--json]
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { creates, defineApp, defineReducer, openKernelWorld, verifyStore, type World } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import * as z from 'zod';

const ACCOUNT = 'scale/Account@1';
const LEDGER = 'scale/Ledger@1';

const account = defineReducer({
  name: ACCOUNT,
  state: z.strictObject({ balance: z.int(), moves: z.int(), note: z.string() }),
  events: { 'scale/Moved@1': creates(z.strictObject({ by: z.int(), note: z.string() })) },
  facts: { 'scale/Balance@1': z.strictObject({ balance: z.int() }) },
  init: () => ({ balance: 0, moves: 0, note: '' }),
  reduce(draft, event, ctx) {
    draft.balance += event.value.by;
    draft.moves += 1;
    draft.note = event.value.note;
    ctx.record('scale/Balance@1', { balance: draft.balance });
    ctx.send([LEDGER, `l${draft.moves % 16}`], { name: 'scale/Counted@1', value: { by: event.value.by } });
  },
});

const ledger = defineReducer({
  name: LEDGER,
  state: z.strictObject({ sum: z.int(), count: z.int() }),
  events: { 'scale/Counted@1': creates(z.strictObject({ by: z.int() })) },
  init: () => ({ sum: 0, count: 0 }),
  reduce(draft, event) {
    draft.sum += event.value.by;
    draft.count += 1;
  },
});

const app = defineApp({ reducers: [account, ledger] });

/** Records in one frame of this workload: request, event, fact, state. */
const RECORDS_PER_FRAME = 4;

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    cells: { type: 'string', default: '100000' },
    json: { type: 'boolean', default: false },
  },
});
const records = Number(values.records);
const cells = Number(values.cells);
const frames = Math.ceil(records / RECORDS_PER_FRAME);

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-scale-'));
try {
  await main(path.join(folder, 'world.db'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main(file: string): Promise<void> {
  const figures: Record<string, number> = { records, cells, frames };
  const store = sqlite(file);
  const openEmpty = await timed(async () => (await openKernelWorld({ store: sqlite(`${file}-small`), app })).close());
  figures.open_empty_ms = openEmpty;
  await write(store, figures);
  figures.file_mb = statSync(file).size / 1e6;
  for (const tail of [0, 1_000]) figures[`open_tail_${tail}_ms`] = await openWithTail(store, tail);
  await scan(store, figures);
  await verify(store, figures);
  figures.replay_over_scan = (figures.replay_frames_per_s ?? 0) / (figures.scan_frames_per_s ?? 1);
  if (values.json) console.log(JSON.stringify(figures));
  else
    for (const [name, value] of Object.entries(figures))
      console.log(name.padEnd(28), Number.isInteger(value) ? value : value.toFixed(2));
}

async function write(store: ReturnType<typeof sqlite>, figures: Record<string, number>): Promise<void> {
  const world = await openKernelWorld({ store, app, recheckEvery: 0, snapshotEvery: 20_000 });
  const began = performance.now();
  const window = 512;
  for (let i = 0; i < frames; i += window) {
    const many = Array.from({ length: Math.min(window, frames - i) }, (_, k) => move(world, i + k));
    await Promise.all(many);
    if (process.stderr.isTTY && i % (window * 64) === 0) process.stderr.write(`\rwritten ${i}/${frames}`);
  }
  figures.write_frames_per_s = frames / ((performance.now() - began) / 1000);
  figures.snapshot_ms = await timed(async () => void (await world.snapshot()));
  await world.close();
}

function move(world: World, i: number): Promise<unknown> {
  const key = `a${(i * 7919) % cells}`;
  return world.request(
    [ACCOUNT, key],
    { name: 'scale/Moved@1', value: { by: (i % 100) - 50, note: `move ${i}` } },
    { id: `m${i}` },
  );
}

/** Opens a world whose newest snapshot is `tail` frames back. */
async function openWithTail(store: ReturnType<typeof sqlite>, tail: number): Promise<number> {
  if (tail > 0) {
    const world = await openKernelWorld({ store, app, recheckEvery: 0, snapshotEvery: 0 });
    await Promise.all(Array.from({ length: tail }, (_, k) => move(world, frames + k)));
    await world.close();
  }
  return timed(async () => (await openKernelWorld({ store, app, recheckEvery: 0 })).close());
}

async function scan(store: ReturnType<typeof sqlite>, figures: Record<string, number>): Promise<void> {
  const reader = await store.openReadonly();
  const began = performance.now();
  let bytes = 0;
  let count = 0;
  for await (const frame of reader.journal.read(0)) {
    bytes += frame.bytes.length;
    count++;
  }
  figures.scan_frames_per_s = count / ((performance.now() - began) / 1000);
  figures.bytes_per_frame = bytes / count;
  await reader.close();
}

async function verify(store: ReturnType<typeof sqlite>, figures: Record<string, number>): Promise<void> {
  const reader = await store.openReadonly();
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 50);
  const began = performance.now();
  const report = await verifyStore(reader, {
    app,
    onProgress: ({ frames: done, of }) => {
      peak = Math.max(peak, process.memoryUsage().rss);
      if (process.stderr.isTTY) process.stderr.write(`\rverified ${done}/${of}   `);
    },
  });
  clearInterval(watch);
  const seconds = (performance.now() - began) / 1000;
  figures.replay_frames_per_s = report.frames / seconds;
  figures.replay_records_per_s = report.records / seconds;
  figures.verify_extra_mb = (peak - before) / 1e6;
  await reader.close();
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
