/** People and agents stand on the page by their names: ids are left to the records and to details. */

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { spread } from '../../../../conformance/part.js';
import { makeMemories } from '../../../cli/test/operators/memory-scene.js';
import { makeScene, makeSwarm } from '../../../cli/test/operators/scene.js';
import { describeInBrowser, type Shown, settled, show, startBrowser } from './browser.js';
import { freshFolder } from './worlds.js';

const folder = freshFolder();
let browser: Browser;
const worlds: Record<string, Shown> = {};

beforeAll(async () => {
  await makeScene(folder.file('scene.db'));
  await makeSwarm(folder.file('swarm.db'));
  await makeMemories(folder.file('memory.db'));
  browser = await startBrowser();
  for (const name of ['scene', 'swarm', 'memory']) worlds[name] = await show(browser, folder.file(`${name}.db`));
});
afterAll(async () => {
  for (const world of Object.values(worlds)) await world.close();
  await browser?.close();
  folder.remove();
});

const PATHS = [
  ...['/', '/story', '/story?all=1', '/prompt/last', '/org', '/society', '/waiting', '/cost', '/trouble', '/rights'],
  ...['/compare?a=2&b=15', '/cells', '/memory'],
];

describeInBrowser('names on the page', () => {
  it.each(['swarm', 'scene', 'memory'])(
    'given the world of a %s, no screen but the records and details shows an id of 32 digits',
    async (world) => {
      for (const path of spread(4, PATHS)) {
        const page = await worlds[world]!.page(path);
        await settled(page);
        const text = await page.locator('body').innerText();
        expect([path, text.match(/[0-9a-f]{32,}/g)]).toEqual([path, null]);
        await page.context().close();
      }
    },
  );

  it('the rights of an agent are reached from its row, and named after it', async () => {
    const page = await worlds.swarm!.page('/org');
    await page.locator('.row', { hasText: 'scout 1 of markets' }).getByRole('link', { name: 'rights' }).click();
    await expect.poll(() => page.locator('main').innerText()).toContain('What says so');
    expect(await page.locator('select option:checked').innerText()).toContain('scout 1 of markets');
    expect(await page.locator('main').innerText()).not.toMatch(/[0-9a-f]{32}/);
  });

  it('given the world of a swarm, its screens name the people, the agents and the swarm', async () => {
    const page = await worlds.swarm!.page('/org');
    for (const name of ['ann', 'scout 1 of markets', 'markets']) await page.getByText(name).first().waitFor();
    expect(page.seen).toEqual({ errors: [], outside: [] });
  });
});
