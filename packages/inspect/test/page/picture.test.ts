/** The picture of the tutorial, taken of the world that the tutorial makes: `DOCS_UPDATE=1` writes it anew. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { program } from '../../../../scripts/lib/program.js';
import { ROOT } from '../../../../scripts/lib/root.mjs';
import { describeInBrowser, type Shown, settled, show, startBrowser } from './browser.js';
import { freshFolder } from './worlds.js';

const PAGE = join(ROOT, 'docs/tutorial/find-out-what-your-agents-did.md');
const PICTURE = join(ROOT, 'docs/images/inspect-story.png');

const folder = freshFolder();
let browser: Browser;
let shown: Shown;

/** Runs the program of the tutorial, which makes `desk.db` in the folder where it runs. */
async function makeDesk(): Promise<void> {
  const [, source = ''] = /```ts file=desk\.ts\n([\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
  const place = join(ROOT, 'node_modules/.cache/reprise-test');
  mkdirSync(place, { recursive: true });
  const file = join(place, 'desk.ts');
  writeFileSync(file, source);
  await promisify(execFile)(process.execPath, [await program(pathToFileURL(file))], { cwd: folder.file('.') });
}

beforeAll(async () => {
  await makeDesk();
  browser = await startBrowser();
  shown = await show(browser, folder.file('desk.db'), 'desk.db');
});
afterAll(async () => {
  await shown?.close();
  await browser?.close();
  folder.remove();
});

describeInBrowser('the picture of the tutorial', () => {
  it('given the world of the tutorial, its story on the page says who booked what and who allowed it, and its picture is at hand', async () => {
    const page = await shown.page('/story');
    await settled(page);
    const text = await page.locator('main').innerText();
    for (const words of ['Please book table 7.', 'Table 7 is booked for 20:00.', 'ann']) expect(text).toContain(words);
    if (process.env.DOCS_UPDATE !== undefined) await page.screenshot({ path: PICTURE });
    expect(existsSync(PICTURE)).toBe(true);
    expect(readFileSync(PAGE, 'utf8')).toContain('../images/inspect-story.png');
  });
});
