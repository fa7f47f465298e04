/** Readers of worlds that another process writes, on a real server: hints, a poll alone, connections that are cut. */
import { randomBytes } from 'node:crypto';
import {
  EMPTY_HEAD,
  followFrames,
  type Head,
  nextHead,
  type OpenStore,
  portableSha256,
  type StoredFrame,
} from '@reprise/kernel';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { type PostgresDatabase, type PostgresOptions, postgres } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';
import { openNetwork } from './proxy.js';

describePostgres('a reader elsewhere', (own) => {
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });
  const database = (options: PostgresOptions = {}, url = own.url): PostgresDatabase => {
    const made = postgres(url, options);
    open.push(made);
    return made;
  };

  /** Appends frames of random bytes. */
  async function writer(store: OpenStore) {
    let head: Head = await store.journal.head();
    return async (count: number): Promise<void> => {
      const frames: StoredFrame[] = [];
      for (let n = 0, last = head; n < count; n++) {
        const bytes = new Uint8Array(randomBytes(40));
        last = nextHead(last, bytes, portableSha256);
        frames.push({ seq: last.seq, at: last.seq, kind: 'request', head: last.digest, bytes });
      }
      head = await store.journal.append(frames, head);
    };
  }

  function reading(frames: AsyncIterable<StoredFrame>) {
    const read: StoredFrame[] = [];
    const done = (async () => {
      for await (const frame of frames) read.push(frame);
    })();
    done.catch(() => undefined);
    return { read, done };
  }

  async function all(of: PostgresDatabase, name: string): Promise<readonly string[]> {
    const store = await of.world(name).openReadonly();
    const frames: string[] = [];
    for await (const { bytes } of store.journal.read(0)) frames.push(Buffer.from(bytes).toString('hex'));
    await store.close();
    return frames;
  }

  it('a reader is woken by a hint long before it would look again', async () => {
    const [name, owner, other] = [own.fresh(), database(), database()];
    const append = await writer(await owner.world(name).open());
    await append(3);
    const store = await other.world(name).openReadonly();
    const stop = new AbortController();
    const { read, done } = reading(followFrames(store, { signal: stop.signal, pollMs: 3_600_000 }));
    for (let n = 0; n < 20; n++) {
      await append(1 + (n % 3));
      await expect
        .poll(() => read.length)
        .toBe(
          (
            await owner
              .world(name)
              .openReadonly()
              .then((one) => one.journal.head())
          ).seq + 1,
        );
    }
    stop.abort();
    await done;
    expect(read.map(({ bytes }) => Buffer.from(bytes).toString('hex'))).toEqual(await all(other, name));
  });
});
