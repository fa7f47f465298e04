/** What only other processes can show: the lock, and what a kill leaves. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ref } from '@reprise/contracts';
import type { StoredFrame } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomFrom } from '../../../conformance/random.js';
import { sqlite } from '../src/index.js';
import { type Child, startChild } from './child.js';
import { freshDirectory } from './fixtures.js';
import { frameBytes } from './frames.js';

let place: ReturnType<typeof freshDirectory>;
let path: string;
let children: Child[];

beforeEach(() => {
  place = freshDirectory();
  path = join(place.dir, 'w.db');
  children = [];
});

afterEach(async () => {
  for (const child of children) await child.kill();
  place.remove();
});

async function start(file: string, ...args: string[]): Promise<Child> {
  const child = await startChild(file, path, ...args);
  children.push(child);
  return child;
}

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

describe('the lock', () => {
  it('given a holder in another process, running or stopped, an opener is refused; after its death it is not [JRN-18]', async () => {
    const holder = await start('holder.ts');
    expect((await holder.lines.next()).value).toBe('held');
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'world_locked' });

    holder.signal('SIGSTOP');
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'world_locked' });
    const reader = await sqlite(path).openReadonly(); // a reader needs no lock
    expect((await reader.journal.head()).seq).toBe(-1);
    await reader.close();

    await holder.kill();
    const open = await sqlite(path).open();
    expect(open.cleanlyClosed).toBe(false);
    await open.close();
  });

  it('given a holder in this process, an opener in another is refused', async () => {
    const open = await sqlite(path).open();
    const other = await start('holder.ts');
    expect((await other.lines.next()).value).toBe('world_locked');
    await open.close();
  });
});

describe('kill -9', () => {
  const SEED = 20_26;
  const MOMENTS = 10;

  it(`given a kill at ${MOMENTS} moments of an append loop, each leaves a prefix with all that was acknowledged (seed ${SEED}) [JRN-20]`, async () => {
    const random = randomFrom(SEED);
    const links = new Set<string>();
    for (let moment = 0; moment < MOMENTS; moment++) {
      const child = await start('appender.ts', String(moment));
      const acks: string[] = [];
      for (let wait = 1 + Math.floor(random() * 30); wait > 0; wait--)
        acks.push((await child.lines.next()).value as string);
      await sleep(random() * 4);
      acks.push(...(await child.kill()));

      const acknowledged = Number(acks.at(-1)?.split(' ')[0]);
      for (const ack of acks) for (const link of ack.split(' ').slice(1)) links.add(link);
      await expectPrefix(acknowledged, links);
    }
  });

  async function expectPrefix(acknowledged: number, links: ReadonlySet<string>): Promise<void> {
    const open = await sqlite(path).open();
    expect(open.cleanlyClosed).toBe(false);
    const head = await open.journal.head();
    expect(head.seq).toBeGreaterThanOrEqual(acknowledged);
    let next = 0;
    let last: StoredFrame | undefined;
    for await (const frame of open.journal.read(0)) {
      expect(frame.seq).toBe(next++);
      expect(Buffer.from(frame.bytes).equals(frameBytes(frame.seq)), `bytes of frame ${frame.seq}`).toBe(true);
      last = frame;
    }
    expect(last).toMatchObject({ seq: head.seq, head: head.digest });
    for (const link of links) expect(await open.content.get(Ref.fromHex(link)), link).toBeInstanceOf(Uint8Array);
    await open.close();
  }

  it('after a writer was killed, a reader sees what it acknowledged and changes neither the database nor its WAL [JRN-19]', async () => {
    const child = await start('appender.ts', '1');
    const acks: string[] = [];
    while (acks.length < 20) acks.push((await child.lines.next()).value as string);
    acks.push(...(await child.kill()));
    const before = [digestOf(path), digestOf(`${path}-wal`)];

    const reader = await sqlite(path).openReadonly();
    expect((await reader.journal.head()).seq).toBeGreaterThanOrEqual(Number(acks.at(-1)?.split(' ')[0]));
    let frames = 0;
    for await (const frame of reader.journal.read(0)) frames += frame.bytes.length > 0 ? 1 : 0;
    expect(frames).toBe((await reader.journal.head()).seq + 1);
    await reader.close();
    expect([digestOf(path), digestOf(`${path}-wal`)]).toEqual(before);
  });
});
