/**
 * What a step of the slider costs beside a replayer that is kept in this process, and what a page that asks costs the writer:
 *
 *   npx tsx --conditions=@reprise/source scripts/bench/slider.ts
 *
 * Both in one run, in turns. The server of the page is a process of its own, as a user starts it; connections are kept, as in
 * a browser.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openKernelWorld } from '@reprise/kernel';
import { KeptPast } from '@reprise/kernel/past';
import { sqlite } from '@reprise/store-sqlite';
import app from '../../packages/cli/test/apps/app.js';
import { add, LEDGER } from '../../packages/cli/test/worlds.js';

const FRAMES = 3_000;
const STEPS = 400;
const APPENDS = 3_000;
/** Between two appends, in milliseconds: a busy agent, and not a loop. */
const PAUSE_MS = 10;

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-slider-'));
const file = path.join(folder, 'world.db');
const world = await openKernelWorld({ store: sqlite(file), app, snapshotEvery: 700 });
for (let n = 0; n < FRAMES; n++) await add(world, 1);

const at = (part: number, times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;
async function timed(times: number[], work: () => Promise<unknown>): Promise<void> {
  const begun = performance.now();
  await work();
  times.push(performance.now() - begun);
}

const source = (place: string): string => fileURLToPath(new URL(place, import.meta.url));
const server = spawn(process.execPath, [
  ...process.execArgv,
  ...[
    source('../../packages/cli/src/bin.ts'),
    'inspect',
    file,
    '--no-open',
    '--app',
    source('../../packages/cli/test/apps/app.ts'),
  ],
]);
const [base, token] = await new Promise<readonly [string, string]>((found) => {
  for (const stream of [server.stdout, server.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      const [, address, secret] = /(http:\/\/[^/\s]+)\/#token=(\S+)/.exec(line) ?? [];
      if (address !== undefined && secret !== undefined) found([address, secret]);
    });
});
async function ask(question: string): Promise<void> {
  const answer = await fetch(`${base}/api/${question}`, { headers: { 'x-reprise-token': token } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
}

const reader = await sqlite(file).openReadonly();
const kept = new KeptPast(reader, app);
const cell = encodeURIComponent(LEDGER.join('/'));
const [overHttp, inProcess]: [number[], number[]] = [[], []];
const newest = world.head.seq;
await kept.at(newest);
await ask(`state?cell=${cell}&at=${newest}`);
for (let frame = newest - 1; frame > newest - STEPS; frame--) {
  await timed(inProcess, async () => (await kept.at(frame)).state(LEDGER));
  await timed(overHttp, () => ask(`state?cell=${cell}&at=${frame}`));
}
const ratio = at(0.95, overHttp) / at(0.95, inProcess);
console.log(
  `a step back, p95: in process ${at(0.95, inProcess).toFixed(1)} ms, by the page ${at(0.95, overHttp).toFixed(1)} ms, ${ratio.toFixed(2)} ×`,
);

const [alone, beside]: [number[], number[]] = [[], []];
/** Follows the world and asks again, as the page does, in a process of its own, as a browser is. */
const READER = `
  const [base, token] = process.argv.slice(1);
  const headers = { 'x-reprise-token': token };
  fetch(base + '/api/follow', { headers }).then(async ({ body }) => { for await (const _ of body); }).catch(() => {});
  for (;;) {
    await fetch(base + '/api/now', { headers }).then((answer) => answer.text()).catch(() => process.exit());
    await new Promise((next) => setTimeout(next, 1_000));
  }`;
let reading: ReturnType<typeof spawn> | undefined;
for (let n = 0; n < APPENDS; n++) {
  const isRead = Math.floor(n / 500) % 2 === 1;
  if (isRead) reading ??= spawn(process.execPath, ['--input-type=module', '-e', READER, base, token]);
  else if (reading !== undefined) {
    reading.kill();
    reading = undefined;
  }
  await timed(isRead ? beside : alone, () => add(world, 1));
  await new Promise((next) => setTimeout(next, PAUSE_MS));
}
reading?.kill();
console.log(
  `an append, p99: alone ${at(0.99, alone).toFixed(1)} ms, while a page asks ${at(0.99, beside).toFixed(1)} ms`,
);
server.kill();
await reader.close();
await world.close();
rmSync(folder, { recursive: true });
