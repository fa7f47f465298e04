/** No screen has a violation of the rules that axe knows, in both color schemes and at three widths. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { spread } from '../../../../conformance/part.js';
import { makeMemories } from '../../../cli/test/operators/memory-scene.js';
import { makeScene, makeSwarm } from '../../../cli/test/operators/scene.js';
import { describeInBrowser, type Shown, settled, show, startBrowser } from './browser.js';
import { freshFolder, makeEdit } from './worlds.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = freshFolder();
let browser: Browser;
const worlds: Record<string, Shown> = {};

/** Each screen, in the world that has most to show on it, and the keys that open its detail. */
const SCREENS: readonly (readonly [screen: string, world: string, path: string, keys: readonly string[]])[] = [
  ['Now', 'scene', '/', ['j']],
  ['Story with the detail of a row', 'edit', '/story', ['k', 'k', 'k']],
  ['Prompt', 'edit', '/prompt/last', ['j']],
  ['Prompt as sent', 'edit', '/prompt/last?as=sent', []],
  ['Waiting', 'scene', '/waiting', ['j']],
  ['Organization with a tree and a team', 'scene', '/org', ['j']],
  ['Organization of a society', 'swarm', '/org', ['j']],
  ['Cost', 'scene', '/cost', []],
  ['Trouble', 'scene', '/trouble', []],
  ['Rights', 'swarm', '/rights', []],
  ['Rights of an item', 'memory', '/rights?item=group%3Acrew%232', []],
  ['Memory', 'memory', '/memory', []],
  ['Memory with the detail of an item', 'memory', '/memory/group%3Acrew/2', ['j']],
  ['Society with trust over time and the result of a swarm', 'memory', '/society', ['j']],
  ['Compare', 'scene', '/compare?a=3&b=9', ['j']],
  ['State', 'scene', '/cells', ['j']],
  ['State of a cell', 'scene', '/cell/aos.agent%2FSessionReducer%401/main', []],
  ['Records', 'scene', '/records?at=4', ['j']],
  ['A record', 'scene', '/f/3/1', []],
  ['the search', 'scene', '/', ['/', 'b', 'o', 'o', 'k']],
  ['the keys', 'scene', '/', ['?']],
  ['a screen that does not exist', 'scene', '/nothing', []],
  ['a frame that does not exist', 'scene', '/?at=99999', []],
];

beforeAll(async () => {
  await makeScene(folder.file('scene.db'));
  await makeSwarm(folder.file('swarm.db'));
  await makeMemories(folder.file('memory.db'));
  await makeEdit(folder.file('edit.db'), 'word');
  browser = await startBrowser();
  for (const name of ['scene', 'swarm', 'memory', 'edit'])
    worlds[name] = await show(browser, folder.file(`${name}.db`));
});
afterAll(async () => {
  for (const world of Object.values(worlds)) await world.close();
  await browser?.close();
  folder.remove();
});

/** What axe finds, a line for each place. */
async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: run } = globalThis as unknown as {
      axe: {
        run(): Promise<
          Record<
            'violations' | 'incomplete',
            { id: string; nodes: { html: string; any: { message: string; data?: { messageKey?: string } }[] }[] }[]
          >
        >;
      };
    };
    const found = await run.run();
    const unsure = found.incomplete.filter(({ id }) => id === 'color-contrast');
    return [...found.violations, ...unsure].flatMap(({ id, nodes }) =>
      // A text of one character is too short for axe to call it text; it has the colors of its neighbors.
      nodes
        .filter(({ any }) => any[0]?.data?.messageKey !== 'shortTextContent')
        .map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ''}`),
    );
  });
}

describeInBrowser('accessibility of the page', () => {
  const views = (['light', 'dark'] as const).flatMap((scheme) => [1200, 360, 320].map((width) => ({ scheme, width })));

  it.each(spread(3, SCREENS))(
    '%s: in light and dark, at 1200, 360 and 320 px, axe finds nothing, and it does not scroll sideways',
    async (_, world, path, keys) => {
      const page = await worlds[world]!.page(path);
      await settled(page);
      for (const key of keys) await page.keyboard.press(key);
      await settled(page);
      const found: string[] = [];
      for (const { scheme, width } of views) {
        await page.emulateMedia({ colorScheme: scheme });
        // So high that nothing covers anything: axe cannot see the colors of what is covered.
        await page.setViewportSize({ width, height: 20_000 });
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
        found.push(...(await violations(page)).map((one) => `${scheme} ${width}: ${one}`));
        const actual = await page.evaluate('document.documentElement.scrollWidth');
        if (actual !== width) found.push(`at ${width} px it is ${actual} px wide`);
      }
      expect(found).toEqual([]);
      await page.context().close();
    },
  );
});
