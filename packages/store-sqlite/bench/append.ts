/**
 * Durable appends, in frames a second, beside the limit of the same disk in the same run: writing the same bytes
 * to a file and waiting for fdatasync. Candidates take turns, so that a noisy neighbour hits all of them.
 *
 *   node --conditions=@reprise/source --import tsx packages/store-sqlite/bench/append.ts [directory]
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_HEAD, type Head, type StoredFrame } from '@reprise/kernel';
import { sqliteDriver } from '../src/database/driver.js';
import { sqlite } from '../src/index.js';

const FRAME_BYTES = 482;
const GROUPS = [1, 10, 100, 1000];
const ROUNDS = 15;

const bytes = new Uint8Array(FRAME_BYTES).map((_, i) => (i * 31) & 255);
const digest = '5a'.repeat(32);
const KINDS = ['request', 'receipt', 'timer', 'attempt'];

function framesAfter(head: Head, count: number): StoredFrame[] {
  return Array.from({ length: count }, (_, i) => {
    const seq = head.seq + 1 + i;
    return { seq, at: 1_700_000_000_000 + seq, kind: KINDS[seq % 4] as string, head: digest, bytes };
  });
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] as number;
}

async function timed(times: number, body: () => Promise<void> | void): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < times; i++) await body();
  return (performance.now() - start) / times;
}

async function benchGroup(dir: string, group: number): Promise<void> {
  const path = join(dir, `g${group}.db`);
  const { journal, close } = await sqlite(path).open();
  let head = EMPTY_HEAD;
  const append = async (): Promise<void> => {
    head = await journal.append(framesAfter(head, group), head);
  };
  const fd = openSync(join(dir, `g${group}.raw`), 'w');
  const block = Buffer.concat(Array<Uint8Array>(group).fill(bytes));
  const raw = (): void => {
    writeSync(fd, block);
    fdatasyncSync(fd);
  };

  const times = group >= 1000 ? 5 : group >= 100 ? 20 : 80;
  await timed(times, append);
  const rounds = { raw: [] as number[], store: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    rounds.raw.push(await timed(times, raw));
    rounds.store.push(await timed(times, append));
  }
  closeSync(fd);

  const reading = await timed(1, async () => {
    for await (const frame of journal.read(0)) if (frame.bytes.length !== FRAME_BYTES) throw new Error('a wrong frame');
  });
  let at = 0;
  const one = await timed(500, async () => {
    at = (at + 7919) % head.seq;
    for await (const frame of journal.read(at, at)) if (frame.seq !== at) throw new Error('a wrong frame');
  });
  await close();

  const [rawTime, storeTime] = [median(rounds.raw), median(rounds.store)];
  const perSecond = (time: number, frames: number): string => Math.round((frames / time) * 1000).toLocaleString('en');
  console.log(
    [
      `group ${String(group).padStart(4)}`,
      `raw ${perSecond(rawTime, group).padStart(9)}/s`,
      `store ${perSecond(storeTime, group).padStart(9)}/s`,
      `ratio ${(rawTime / storeTime).toFixed(2)}`,
      `read all ${perSecond(reading, head.seq + 1).padStart(9)}/s`,
      `read one ${Math.round(one * 1000)} µs`,
    ].join('   '),
  );
}

const dir = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'reprise-bench-'));
try {
  console.log(
    `Node ${process.version}, ${(await sqliteDriver()).name}, frames of ${FRAME_BYTES} bytes, medians of ${ROUNDS} rounds`,
  );
  for (const group of GROUPS) await benchGroup(dir, group);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
