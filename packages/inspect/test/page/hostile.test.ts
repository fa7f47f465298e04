/** Words of others are shown as words: nothing in them runs, loads, moves or hides anything. */

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { spread } from '../../../../conformance/part.js';
import { describeInBrowser, type Shown, settled, show, startBrowser } from './browser.js';
import { freshFolder, openCoder } from './worlds.js';

const HOSTILE = [
  '<img src=x onerror="window.__pwned=1">',
  '</script><script>window.__pwned=2</script>',
  '<a href="javascript:window.__pwned=3">here</a>',
  '<style>*{display:none}</style>',
  '\u001b[2J\u001b]0;title\u0007',
  '\u202egnp.exe\u202c\u2066',
  'https://evil.example/a.png',
  '```\n<b>code</b>\n```',
].join(' ');

const PATHS = [
  ...[
    '/',
    '/story',
    '/story/main?all=1',
    '/prompt/last',
    '/prompt/last?as=sent',
    '/waiting',
    '/org',
    '/cost',
    '/trouble',
  ],
  ...[
    '/rights',
    '/memory',
    '/compare?a=1&b=4',
    '/cells',
    '/records',
    '/f/2',
    '/f/2/0',
    '/cell/aos.agent%2FSessionReducer%401/main',
  ],
  ...[`/rights?item=${encodeURIComponent(HOSTILE)}`, `/memory/${encodeURIComponent(HOSTILE)}/1`],
  ...[`/rights?holder=${encodeURIComponent(HOSTILE)}`, `/story/${encodeURIComponent(HOSTILE)}`],
];

const folder = freshFolder();
let browser: Browser;
let shown: Shown;

beforeAll(async () => {
  const file = folder.file('hostile.db');
  const { world, say } = await openCoder({
    ...{ file, asks: true, returns: HOSTILE },
    answer: () => ({ text: HOSTILE, calls: [{ tool: 'write', args: { path: HOSTILE, text: HOSTILE } }] }),
  });
  await say(HOSTILE);
  await world.close();
  browser = await startBrowser();
  shown = await show(browser, file, `${HOSTILE}.db`);
});
afterAll(async () => {
  await shown?.close();
  await browser?.close();
  folder.remove();
});

describeInBrowser('a world of hostile words', () => {
  it('on every screen nothing of it runs, nothing is loaded from elsewhere, and no console has an error', async () => {
    for (const path of spread(3, PATHS)) {
      const page = await shown.page(path);
      await settled(page);
      for (const key of ['j', 'Enter', 'Escape', '/']) await page.keyboard.press(key);
      await page.keyboard.type('evil');
      await settled(page);
      const pwned = await page.evaluate(() => (globalThis as { __pwned?: unknown }).__pwned);
      const errors = page.seen.errors.filter((text) => !/status of 4\d\d/.test(text));
      expect([path, pwned, errors, page.seen.outside]).toEqual([path, undefined, [], []]);
      expect([path, await page.locator('main img, main script, main style').count()]).toEqual([path, 0]);
      await page.context().close();
    }
  });

  it('hostile words are on the page as they were said, and marks that turn text around are written out in our lines', async () => {
    const page = await shown.page('/story/main');
    await settled(page);
    await expect.poll(() => page.locator('main').innerText()).toContain('<img src=x onerror="window.__pwned=1">');
    const heading = (await page.locator('h1.file').textContent()) ?? '';
    expect(heading).toContain('\\u202egnp.exe');
    expect(heading).not.toContain('\u202e');
  });

  it('without the token of this start the page shows in words that the line of the terminal must be opened again', async () => {
    const page = await shown.page('/story');
    await page.reload();
    await page.getByText('Open the line of the terminal again').waitFor();
    expect(page.url()).not.toContain('token');
  });
});
