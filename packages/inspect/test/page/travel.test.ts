/** The slider moves every screen; the address holds where a page is, so pages do not disturb each other, and back goes back. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeMemories } from '../../../cli/test/operators/memory-scene.js';
import { makeScene } from '../../../cli/test/operators/scene.js';
import { describeInBrowser, type Shown, settled, show, startBrowser } from './browser.js';
import { freshFolder } from './worlds.js';

const folder = freshFolder();
let browser: Browser;
let shown: Shown;
let kept: Shown;

beforeAll(async () => {
  await makeScene(folder.file('scene.db'));
  browser = await startBrowser();
  shown = await show(browser, folder.file('scene.db'));
  await makeMemories(folder.file('memory.db'));
  kept = await show(browser, folder.file('memory.db'));
});
afterAll(async () => {
  await shown?.close();
  await kept?.close();
  await browser?.close();
  folder.remove();
});

const text = async (page: Page): Promise<string> => (await page.locator('main').innerText()).replace(/\s+/g, ' ');
const frame = (page: Page): Promise<string | null> =>
  page.getByRole('slider', { name: 'Frame that is shown' }).getAttribute('aria-valuenow');

describeInBrowser('time travel', () => {
  it('when the handle of the slider is moved by keys, every screen shows the frame, with its time', async () => {
    const page = await shown.page('/');
    await expect.poll(() => text(page)).toContain('It waits for people 3');
    const handle = page.getByRole('slider', { name: 'Frame that is shown' });
    await handle.focus();
    for (let n = 0; n < 9; n++) await page.keyboard.press('ArrowLeft');
    await expect.poll(() => frame(page)).toBe('9');
    await expect.poll(() => text(page)).toContain('It waited for people 1');
    await expect.poll(() => page.locator('.asof').innerText()).toMatch(/as of \d\d:\d\d:\d\d, frame 9/);
    await page.keyboard.press('2');
    await expect.poll(() => page.url()).toContain('/story?at=9');
    await expect.poll(() => text(page)).toContain('A table for two at eight.');
    expect(await text(page)).not.toContain('A party for four.');
    await page.keyboard.press('l');
    await expect.poll(() => text(page)).toContain('A party for four.');
  });

  it('when the strip is pressed, every screen shows the frame at that place', async () => {
    const page = await shown.page('/cost');
    await settled(page);
    const strip = page.locator('.strip');
    const box = await strip.boundingBox();
    await strip.click({ position: { x: (box?.width ?? 0) / 2, y: 10 } });
    await expect.poll(() => frame(page)).toBe('9');
    await expect.poll(() => text(page)).toContain('2 model calls');
  });

  it('when the handle is moved back, the memories, their verdicts and trust are those of that frame', async () => {
    const page = await kept.page('/memory/group%3Acrew/1');
    await expect.poll(() => text(page)).toContain('superseded, replaced by group:crew#3');
    await page.goto(`${kept.origin}/memory/group%3Acrew/1?at=19#token=${kept.token}`);
    await expect.poll(() => text(page)).toContain('Nobody has judged it.');
    expect(await text(page)).not.toContain('superseded');
    await page.keyboard.press(']');
    await expect.poll(() => text(page)).toMatch(/right by ben/);
    await page.keyboard.press('3');
    await expect.poll(() => text(page)).toMatch(/Trust over time 1 .*0\.65 → 0\.67 right crew#1/);
    expect(await page.getByRole('img', { name: 'Score after each verdict: 0.65, 0.67' }).count()).toBe(1);
    await page.keyboard.press('l');
    await expect.poll(() => text(page)).toMatch(/Trust over time 3 /);
    await expect.poll(() => text(page)).toMatch(/What its agents found task 1, reader 0: ok order\.ts:2: a long line/);
    expect(await text(page)).toMatch(/Its result One line of order\.ts is too long\./);
    const early = await kept.page('/memory/group%3Acrew/1?at=2');
    await expect.poll(() => text(early)).toContain('It did not exist yet at frame 2.');
  });

  it('a part of the world that was made later is no error: the screen says that it did not exist yet', async () => {
    const page = await shown.page('/org?at=2');
    await expect.poll(() => text(page)).toContain('It did not exist yet at frame 2.');
    await settled(page);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('two pages at different frames do not disturb each other', async () => {
    const [one, other] = [await shown.page('/waiting?at=8'), await shown.page('/waiting')];
    await expect.poll(() => text(one)).toContain('It waited for people 1');
    await expect.poll(() => text(other)).toContain('It waits for people 3');
    await one.keyboard.press('[');
    await expect.poll(() => frame(one)).toBe('7');
    expect(await frame(other)).toBe('18');
    expect(await text(other)).toContain('It waits for people 3');
  });

  it('the back button restores the screen, the frame, the selection and the focus', async () => {
    const page = await shown.page('/story?at=12');
    await settled(page);
    for (const key of ['k', 'k', 'k']) await page.keyboard.press(key);
    await expect.poll(() => page.locator('.row.selected').count()).toBe(1);
    const id = await page.locator('.row.selected').getAttribute('id');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe(id);
    await page.keyboard.press('5');
    await expect.poll(() => page.url()).toContain('/cost?at=12');
    await page.keyboard.press('l');
    await expect.poll(() => page.url()).not.toContain('at=');
    await page.goBack();
    await expect.poll(() => page.url()).toContain('/story?at=12&sel=');
    await expect.poll(() => page.locator('.row.selected').getAttribute('id')).toBe(id);
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe(id);
  });

  it('j and k go through all lists of a screen, in their order on the page', async () => {
    const page = await shown.page('/org');
    await page.getByText('Upgrade the parser').first().waitFor();
    await settled(page);
    const seen: (string | null)[] = [];
    for (const key of ['j', 'j', 'k']) {
      await page.keyboard.press(key);
      seen.push(await page.locator('.row.selected').getAttribute('id'));
    }
    expect(seen).toEqual(['row-upgrade-1', 'row-upgrade-2', 'row-upgrade-1']);
  });

  it('however many parts of the page show an answer, it is asked once', async () => {
    const asked: string[] = [];
    const page = await shown.page('/', { onRequest: (url) => asked.push(url.replace(shown.origin, '')) });
    await settled(page);
    expect(asked.filter((url) => /^\/api\/(?:now|strip|world)/.test(url)).sort()).toEqual([
      ...['/api/now', '/api/strip?buckets=160', '/api/world'],
    ]);
    // The page shows what it knows until the answer comes, so no text of it tells that the question was asked.
    const answered = page.waitForResponse((response) => response.url().endsWith('/api/now?at=17'));
    await page.keyboard.press('[');
    await answered;
    await settled(page);
    const past = asked.filter((url) => url.startsWith('/api/now?at='));
    expect(past).toEqual(['/api/now?at=17']);
  });

  it('when the heads are verified, the page says that they match', async () => {
    const page = await shown.page('/');
    await page.getByRole('button', { name: 'verify' }).click();
    await page.getByText('✓ heads match').waitFor();
  });
});
