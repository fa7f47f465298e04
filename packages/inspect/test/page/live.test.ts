/** A page follows a world that another process writes, and says what became of that process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { typescriptArgs } from '../../../../scripts/lib/run.mjs';
import { describeInBrowser, type Shown, settled, show, startBrowser } from './browser.js';
import { freshFolder, nonce } from './worlds.js';

const folder = freshFolder();
const file = folder.file('live.db');
let browser: Browser;
let shown: Shown;
let writer: ChildProcess;

/** Has the writer send a message, and waits until it has everything on disk. */
async function say(words: string): Promise<void> {
  writer.stdin?.write(`${words}\n`);
  await once(writer.stdout as NodeJS.ReadableStream, 'data');
}

beforeAll(async () => {
  const program = fileURLToPath(new URL('./live-writer.ts', import.meta.url));
  writer = spawn(process.execPath, [...typescriptArgs(), program, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(writer.stdout as NodeJS.ReadableStream, 'data');
  browser = await startBrowser();
  shown = await show(browser, file);
});
afterAll(async () => {
  writer?.kill('SIGKILL');
  await shown?.close();
  await browser?.close();
  folder.remove();
});

describeInBrowser('a living world', () => {
  it('what another process writes is on the page within moments, without a reload; a page of the past stays where it is', async () => {
    const [now, past] = [await shown.page('/story'), await shown.page('/story?at=1')];
    await settled(now);
    await expect.poll(() => now.locator('.pill').innerText()).toContain('a process has it open');
    const before = await past.locator('main').innerText();
    for (let n = 0; n < 3; n++) {
      const word = nonce();
      await say(word);
      await expect.poll(() => now.locator('main').innerText(), { timeout: 10_000 }).toContain(word);
      await expect.poll(() => now.locator('main').innerText(), { timeout: 10_000 }).toContain(`You said ${word}`);
    }
    expect(await past.locator('main').innerText()).toBe(before);
    expect(now.seen.errors).toEqual([]);
  });

  it('when the process is killed, the page says so within seconds', async () => {
    const page = await shown.page('/');
    await expect.poll(() => page.locator('.pill').innerText()).toContain('a process has it open');
    writer.kill('SIGKILL');
    await expect
      .poll(() => page.locator('.pill').innerText(), { timeout: 15_000 })
      .toContain('the process that had it open is gone');
  });

  it('when the server of the page ends, the page says that it is not connected', async () => {
    const own = await show(browser, file);
    const page = await own.page('/');
    await settled(page);
    const context = page.context();
    await own.stop();
    await expect.poll(() => page.locator('.pill').innerText()).toContain('not connected');
    await context.close();
  });
});
