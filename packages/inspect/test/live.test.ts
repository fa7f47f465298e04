/** What the page hears of a world that another process writes, and that it leaves the world as it was. */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { program } from '../../../scripts/lib/program.js';
import ledgerApp from '../../cli/test/apps/app.js';
import { makeScene } from '../../cli/test/operators/scene.js';
import { startProgram } from '../../cli/test/run.js';
import { add, freshFolder, LEDGER } from '../../cli/test/worlds.js';
import type { FollowMessage } from '../src/contract/index.js';
import { openPage, type Page, QUESTIONS } from './page.js';

const CHATTER = await program(new URL('../../cli/test/apps/chatter.ts', import.meta.url));
const folder = freshFolder();
afterAll(() => folder.remove());

/** The messages that a page gets, as they come. */
class Heard {
  readonly messages: FollowMessage[] = [];
  readonly #stop = new AbortController();

  async listen({ base, token }: Page): Promise<void> {
    const response = await fetch(`${base}/api/follow`, {
      headers: { 'x-reprise-token': token },
      signal: this.#stop.signal,
    });
    const { body } = response;
    if (body === null) throw new Error('no stream');
    void this.#read(body).catch(() => undefined);
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
      const events = (text + decoder.decode(piece, { stream: true })).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events)
        if (event.startsWith('data: ')) this.messages.push(JSON.parse(event.slice('data: '.length)));
    }
  }

  last<T extends FollowMessage['type']>(type: T): Extract<FollowMessage, { type: T }> | undefined {
    return this.messages.findLast((one): one is Extract<FollowMessage, { type: T }> => one.type === type);
  }

  stop(): void {
    this.#stop.abort();
  }
}

describe('the page of a world that is written', () => {
  it('a new frame reaches the page within a second of its acknowledgement', async () => {
    const file = folder.file('live.db');
    await using world = await openKernelWorld({ store: sqlite(file), app: ledgerApp });
    await add(world, 1);
    const page = await openPage(file, ledgerApp);
    const heard = new Heard();
    await heard.listen(page);
    for (let n = 0; n < 3; n++) {
      const { head } = await world.request(LEDGER, { name: 'demo/Added@1', value: { by: n } });
      const began = performance.now();
      await expect.poll(() => heard.last('head')?.head, { timeout: 5_000, interval: 10 }).toBe(head);
      expect(performance.now() - began).toBeLessThan(1_000);
    }
    expect(heard.last('process')).toMatchObject({ process: 'open' });
    heard.stop();
    await page.close();
  });

  it('a process that is killed is told within three seconds, and one that is stopped is silent for longer and longer', async () => {
    const file = folder.file('chat.db');
    const child = startProgram(folder.path, CHATTER, file);
    child.stderr?.resume();
    await once(child.stdout ?? child, 'data');
    child.stdout?.resume();
    await expect.poll(() => existsSync(file)).toBe(true);
    const page = await openPage(file);
    const heard = new Heard();
    await heard.listen(page);
    await expect.poll(() => heard.last('process')?.process).toBe('open');
    child.kill('SIGSTOP');
    const before = heard.last('process')?.silent_ms ?? 0;
    await expect.poll(() => heard.last('process')?.silent_ms, { timeout: 10_000 }).toBeGreaterThan(before + 2_000);
    expect(heard.last('process')?.process).toBe('open');
    child.kill('SIGKILL');
    const began = performance.now();
    await expect.poll(() => heard.last('process')?.process, { timeout: 10_000, interval: 10 }).toBe('died');
    expect(performance.now() - began).toBeLessThan(3_000);
    expect((await page.ask('/api/world')).json.process).toBe('died');
    heard.stop();
    await page.close();
  });

  it('all questions leave the file, its log and its lock as they were, bytes and times [SRV-27]', async () => {
    const file = folder.file('scene.db');
    await makeScene(file);
    const files = ['', '-wal', '-lock', '-journal', '-status', '.views'].map((end) => `${file}${end}`);
    const looks = () =>
      files.map((path) => {
        if (!existsSync(path)) return [path, null];
        const { mtimeMs, size } = statSync(path);
        if (path.endsWith('-wal') && size === 0) return [path, null]; // no log: a driver may make an empty one
        return [path, mtimeMs, size, createHash('sha256').update(readFileSync(path)).digest('hex')];
      });
    const before = looks();
    const page = await openPage(file);
    for (const [name, query] of Object.entries(QUESTIONS)) await page.ask(`/api/${name}?${query}`);
    await page.send('POST', '/api/verify', { 'x-reprise-token': page.token });
    await page.close();
    expect(looks()).toEqual(before);
  });

  it('a page that leaves ends the work on its question, and the others are answered [SRV-30]', async () => {
    const file = folder.file('long.db');
    {
      await using world = await openKernelWorld({ store: sqlite(file), app: ledgerApp });
      for (let n = 0; n < 1_500; n++) await add(world, 1);
    }
    const page = await openPage(file, ledgerApp);
    const gone = new AbortController();
    const asked = fetch(`${page.base}/api/story?session=none`, {
      headers: { 'x-reprise-token': page.token },
      signal: gone.signal,
    });
    gone.abort();
    await expect(asked).rejects.toThrow();
    expect((await page.ask('/api/world')).status).toBe(200);
    // Closing waits for all work on requests: it would not end while one went on.
    await page.close();
  });
});
