/** Packing in one process, and what another one sees of it: after a kill at each of its steps, and beside it. */
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Ref } from '@reprise/contracts';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomFrom } from '../../../../conformance/random.js';
import { sqlite } from '../../src/index.js';
import { type Child, startChild } from '../child.js';
import { freshDirectory } from '../fixtures.js';
import { packedFrame } from './packing-frames.js';

let place: ReturnType<typeof freshDirectory>;
let path: string;
let child: Child | undefined;

beforeEach(() => {
  place = freshDirectory();
  path = join(place.dir, 'w.db');
});

afterEach(async () => {
  await child?.kill();
  place.remove();
});

/** Starts a process that appends, and packs. */
async function start(seed: number, strike: number, appends: number): Promise<Child> {
  child = await startChild('faults/packing-child.ts', path, String(seed), String(strike), String(appends));
  return child;
}

/** What a process acknowledged before it died or ended; it is gone then, and not only its output. */
async function acknowledged({ lines, kill }: Child): Promise<string[]> {
  const all: string[] = [];
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) all.push(next.value);
  await kill();
  return all;
}

function expectFrame(frame: StoredFrame, seq: number): void {
  expect(frame.seq).toBe(seq);
  expect(Buffer.from(frame.bytes).equals(packedFrame(seq)), `bytes of frame ${seq}`).toBe(true);
}

async function expectAllFrames({ journal }: ReadonlyStore): Promise<void> {
  const head = await journal.head();
  let next = 0;
  for await (const frame of journal.read(0, head.seq)) expectFrame(frame, next++);
  expect(next).toBe(head.seq + 1);
}

describe('a process that is killed while it packs', () => {
  const SEED = 20_26;
  const KILLS = 12;

  it(`a kill -9 at ${KILLS} steps of packing leaves everything acknowledged, each frame and blob once (seed ${SEED}) [JRN-20]`, async () => {
    const random = randomFrom(SEED);
    const links = new Set<string>();
    let [last, killed] = [-1, 0];
    for (let n = 0; n < KILLS; n++) {
      const lines = await acknowledged(await start(n, 1 + Math.floor(random() * 90), 200));
      killed += lines.at(-1)?.startsWith('done') ? 0 : 1;
      for (const line of lines.filter((line) => !line.startsWith('done'))) {
        const [seq, ...refs] = line.split(' ');
        last = Number(seq);
        for (const ref of refs) links.add(ref);
      }
      const store = await sqlite(path).open();
      expect((await store.journal.head()).seq).toBeGreaterThanOrEqual(last);
      await expectAllFrames(store);
      const listed = new Map<string, number>();
      for await (const { hex } of store.content.list()) listed.set(hex, (listed.get(hex) ?? 0) + 1);
      expect([...listed.values()].filter((times) => times !== 1)).toEqual([]);
      for (const hex of links) expect((await store.content.get(Ref.fromHex(hex)))?.length, hex).toBeGreaterThan(0);
      await store.close();
    }
    expect(killed).toBeGreaterThan(KILLS / 2);
  });
});

describe('a process that reads while another one packs', () => {
  it('a reader in another process finds each frame and each blob once while the writer packs them [JRN-8]', async () => {
    const random = randomFrom(7);
    const writer = await start(1, 0, 500);
    const links: string[] = [];
    let head = -1;
    let done = false;
    const hearing = (async () => {
      for (let next = await writer.lines.next(); next.done !== true; next = await writer.lines.next()) {
        const [seq, ...refs] = next.value.split(' ');
        if (seq === 'done') break;
        head = Number(seq);
        links.push(...refs);
      }
      done = true;
    })();
    while (head < 0) await turn();
    const store = await sqlite(path).openReadonly();
    let reads = 0;
    while (!done) {
      const upTo = head;
      const from = Math.floor(random() * upTo);
      let next = from;
      for await (const frame of store.journal.read(from, Math.min(upTo, from + 90))) {
        expectFrame(frame, next++);
        if (next % 10 === 0) await turn(); // the writer goes on meanwhile
      }
      expect(next).toBe(Math.min(upTo, from + 90) + 1);
      const kind = from % 2 === 0 ? 'snapshot' : 'request';
      const found = await store.journal.findLast(kind, from);
      expect(found?.seq).toBe(kind === 'snapshot' ? from - (from % 7) : from % 7 === 0 ? from - 1 : from);
      const hex = links[Math.floor(random() * links.length)];
      if (hex !== undefined) expect((await store.content.get(Ref.fromHex(hex)))?.length, hex).toBeGreaterThan(0);
      reads++;
      await turn();
    }
    await hearing;
    await expectAllFrames(store);
    await store.close();
    expect(reads).toBeGreaterThan(20);
  });
});
