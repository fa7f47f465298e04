/** Texts are whole when they are opened, however long they are, and the page does not scroll sideways for them. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, type Shown, settled, show, startBrowser } from './browser.js';
import { freshFolder, nonce, openCoder } from './worlds.js';

const LINE = `${nonce()} ${'x'.repeat(5_000_000)} end`;
const CODE = `Look:\n\`\`\`js\n${Array.from({ length: 10_000 }, (_, i) => (i % 10 === 0 ? '' : `${'  '.repeat(i % 7)}line(${i});`)).join('\n')}\n\`\`\`\nThat was it.`;

const folder = freshFolder();
let browser: Browser;
let shown: Shown;

beforeAll(async () => {
  const file = folder.file('long.db');
  const answers = [{ text: LINE }, { text: CODE }];
  const { world, say } = await openCoder({ file, answer: (_, n) => answers[n] ?? { text: 'Done.' } });
  await say('one line', 'line');
  await say('some code', 'code');
  await world.close();
  browser = await startBrowser();
  shown = await show(browser, file);
});
afterAll(async () => {
  await shown?.close();
  await browser?.close();
  folder.remove();
});

describeInBrowser('long texts', () => {
  it.each([
    ['a line of 5 MB', 'line', LINE],
    ['a code block of 10,000 lines, with indented and with empty ones', 'code', CODE],
  ])(
    '%s is folded at first, and has every character when it is opened, at 320 px without a sideways scroll',
    async (_, session, text) => {
      const page = await shown.page(`/story/${session}`, { width: 320 });
      await settled(page);
      const row = page.locator('.row.line-model');
      expect((await row.textContent())?.length).toBeLessThan(2_000);
      await row.getByRole('button', { name: /show all/ }).click();
      await expect
        .poll(() => row.locator('.text').evaluate((element) => element.textContent?.length))
        .toBe(text.length);
      expect((await row.locator('.text').evaluate((element) => element.textContent)) === text).toBe(true);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    },
  );
});
