/**
 * Long form: ten thousand worlds on disk in one host with room for two hundred. Memory must follow the room and not the
 * worlds, and every wake must be on time.
 *
 *   npx tsx --conditions=@reprise/source scripts/long/host.ts [--worlds 10000] [--open 200] [--rate 20] [--json]
 *
 * Each world is made and closed, then opened again to set a timer that comes half a minute later or more, in an order of
 * their own and about `--rate` a second; so wakes begin while users still come, and end without them. All are counted
 * as they are journaled. At the end every row of the directory says that nothing is due.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { creates, defineApp, defineReducer, openKernelWorld, readFrame, type Store } from '@reprise/kernel';
import { type Host, openHost } from '@reprise/kernel/host';
import { sqlite, sqliteDirectory } from '@reprise/store-sqlite';
import * as z from 'zod';

const sleeper = defineReducer({
  name: 'host/Sleeper@1',
  state: z.strictObject({ woken: z.int(), note: z.string() }),
  events: {
    'host/Made@1': creates(z.strictObject({ note: z.string() })),
    'host/Slept@1': z.strictObject({ until: z.int() }),
    'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
  },
  init: () => ({ woken: 0, note: '' }),
  reduce(draft, event, ctx) {
    if (event.name === 'host/Made@1') draft.note = event.value.note;
    else if (event.name === 'host/Slept@1') ctx.timer('wake', event.value.until);
    else draft.woken += 1;
  },
});

const app = defineApp({ reducers: [sleeper] });

/** The time until the first timers: long enough for their worlds to be closed again. */
const AHEAD_MS = 30_000;

/** Users at once: as many as a small service has requests under way. */
const USERS = 32;

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '10000' },
    open: { type: 'string', default: '200' },
    rate: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
  },
});
const [worlds, maxOpen, rate] = [Number(values.worlds), Number(values.open), Number(values.rate)];
const figures: Record<string, number> = { worlds, max_open: maxOpen };
const lateness: number[] = [];
const openings: number[] = [];
let mostOpen = 0;
const started = performance.now();

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-host-'));
try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const directory = sqliteDirectory(path.join(folder, 'host.db'));
  const host = await openHost({
    directory,
    store: (world) => watched(sqlite(path.join(folder, `${world}.db`))),
    open: async (_world, base) => {
      const began = performance.now();
      const world = await openKernelWorld({ ...base, app, recheckEvery: 0 });
      openings.push(performance.now() - began);
      mostOpen = Math.max(mostOpen, host.openCount);
      return world;
    },
    maxOpen,
    idleMs: 5_000,
    waitMs: 600_000,
    onError: ({ world, error }) => console.error(world, error),
  });
  figures.rss_start_mb = rss();
  const watch = setInterval(() => {
    figures.rss_peak_mb = Math.max(figures.rss_peak_mb ?? 0, rss());
  }, 250);
  figures.make_per_s = worlds / (await timed(() => eachWorld((i) => make(host, i))));
  note('made', 'make');
  const spreadMs = (worlds / rate) * 1000;
  const until = (i: number): number => Date.now() + AHEAD_MS + ((i * 7_919) % worlds) * (1000 / rate);
  figures.set_per_s = worlds / (await timed(() => eachWorld((i) => sleep(host, i, until(i)))));
  const amidUsers = lateness.length;
  note('asleep', 'set');
  await wakes(Date.now() + AHEAD_MS + spreadMs);
  clearInterval(watch);
  figures.fired = lateness.length;
  percentiles('late_amid_users', lateness.slice(0, amidUsers));
  percentiles('late', lateness.slice(amidUsers));
  note('woken', 'wake');
  figures.most_open = mostOpen;
  await untilClosed(host);
  figures.still_due = (await host.worlds({ dueBefore: Number.MAX_SAFE_INTEGER, limit: 1 })).length;
  await host.close();
  sizes();
  report();
}

/** The same store, which notes how late each timer is journaled. */
function watched(store: Store): Store {
  return {
    ...store,
    open: async () => {
      const open = await store.open();
      const append: typeof open.journal.append = async (frames, expected) => {
        const head = await open.journal.append(frames, expected);
        for (const { kind, bytes, seq } of frames) {
          const { ingress } = kind === 'timer' ? readFrame(bytes, seq) : { ingress: undefined };
          if (ingress?.kind === 'timer') lateness.push(Date.now() - ingress.due);
        }
        return head;
      };
      return { ...open, journal: { ...open.journal, append } };
    },
  };
}

async function make(host: Host<Awaited<ReturnType<typeof openKernelWorld>>>, i: number): Promise<void> {
  const event = { name: 'host/Made@1', value: { note: `world ${i}` } };
  await host.use(`w${i}`, (world) => world.request([sleeper.name, 'a'], event));
}

async function sleep(host: Host<Awaited<ReturnType<typeof openKernelWorld>>>, i: number, until: number): Promise<void> {
  const event = { name: 'host/Slept@1', value: { until: Math.round(until) } };
  await host.use(`w${i}`, (world) => world.request([sleeper.name, 'a'], event));
}

async function eachWorld(visit: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const user = async (): Promise<void> => {
    for (let i = next++; i < worlds; i = next++) await visit(i);
  };
  await Promise.all(Array.from({ length: USERS }, user));
}

/** Waits for all wakes, with a minute to spare after the last. */
async function wakes(last: number): Promise<void> {
  while (lateness.length < worlds && Date.now() < last + 60_000)
    await new Promise((resolve) => setTimeout(resolve, 250));
}

async function untilClosed(host: { readonly openCount: number }): Promise<void> {
  while (host.openCount > 0) await new Promise((resolve) => setTimeout(resolve, 250));
}

/** The results of a phase, and its openings. */
function note(phase: string, name: string): void {
  console.error(phase, `${((performance.now() - started) / 1000).toFixed(0)} s`);
  globalThis.gc?.();
  figures[`rss_${phase}_mb`] = rss();
  percentiles(`${name}_open`, openings.splice(0));
}

function percentiles(name: string, list: readonly number[]): void {
  const sorted = list.toSorted((a, b) => a - b);
  for (const p of [50, 99, 100]) figures[`${name}_p${p}_ms`] = sorted[Math.ceil((sorted.length * p) / 100) - 1] ?? 0;
}

function sizes(): void {
  const files = readdirSync(folder).map((file) => ({ file, size: statSync(path.join(folder, file)).size }));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  figures.directory_mb = (files.find(({ file }) => file === 'host.db')?.size ?? 0) / 1e6;
  figures.bytes_per_world = bytes / worlds;
}

function report(): void {
  if (values.json) console.log(JSON.stringify(figures));
  else
    for (const [name, value] of Object.entries(figures))
      console.log(name.padEnd(20), Number.isInteger(value) ? value : value.toFixed(2));
  const wrong = figures.fired !== worlds || figures.still_due !== 0 || mostOpen > maxOpen;
  if (wrong) throw new Error('a wake was missed, or more worlds were open than there was room for');
  console.log(`host, long form: ok; ${worlds} worlds, ${maxOpen} open at most, every wake happened`);
}

/** The duration of an action, in seconds. */
async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

function rss(): number {
  return process.memoryUsage().rss / 1e6;
}
