/** The ten questions of an operator: each is answered from the first screen within three interactions, by keys alone. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeMemories } from '../../../cli/test/operators/memory-scene.js';
import { makeScene, makeSwarm } from '../../../cli/test/operators/scene.js';
import { run } from '../../../cli/test/run.js';
import { describeInBrowser, type Shown, settled, show, startBrowser } from './browser.js';
import { freshFolder, makeEdit, nonce } from './worlds.js';

const folder = freshFolder();
const word = nonce();
let browser: Browser;
const worlds: Record<string, Shown> = {};

beforeAll(async () => {
  await makeScene(folder.file('scene.db'));
  await makeSwarm(folder.file('swarm.db'));
  await makeMemories(folder.file('memory.db'), word);
  await makeEdit(folder.file('edit.db'), word);
  browser = await startBrowser();
  for (const name of ['scene', 'swarm', 'memory', 'edit'])
    worlds[name] = await show(browser, folder.file(`${name}.db`));
});
afterAll(async () => {
  for (const world of Object.values(worlds)) await world.close();
  await browser?.close();
  folder.remove();
});

/** A key, or a text that is typed. */
type Interaction = { readonly key: string } | { readonly type: string };

const key = (name: string): Interaction => ({ key: name });
const type = (text: string): Interaction => ({ type: text });

/** The first screen of a world, and what a person does on it. */
async function after(world: string, doing: readonly Interaction[]): Promise<Page> {
  expect(doing.length).toBeLessThanOrEqual(3);
  const page = await worlds[world]!.page('/');
  await settled(page);
  for (const one of doing) {
    if ('key' in one) await page.keyboard.press(one.key);
    else await page.keyboard.type(one.type);
    await settled(page);
  }
  return page;
}

/** The visible text of a part of a page. */
const shown = async (page: Page, part = 'main'): Promise<string> =>
  (await page.locator(part).innerText()).replace(/\s+/g, ' ');

describeInBrowser('the ten questions of an operator', () => {
  it('given the question why a file was edited, the detail of the edit has the words of the person and of the model', async () => {
    const page = await after('edit', [key('/'), type('src/cart.js'), key('Enter')]);
    await expect.poll(() => shown(page, '.detail')).toContain(`One of the tests fails: ${word}`);
    expect(await shown(page, '.detail')).toContain('I see the mistake.');
  });

  it('given the question who approved it, the detail of the edit names the person', async () => {
    const page = await after('edit', [key('/'), type('src/cart.js'), key('Enter')]);
    await expect.poll(() => shown(page, '.detail')).toMatch(/allowed by .*ann approves/i);
  });

  it('given the question what it cost by agent and day, one table has both', async () => {
    const page = await after('scene', [key('5')]);
    await expect.poll(() => shown(page)).toMatch(/By agent and day agent 2026-01-02 clerk \$0\.0030/);
  });

  it('given the question what was sent to the model at step 3, the page shows that request with the recorded digest', async () => {
    const page = await after('edit', [key('p'), key('ArrowLeft')]);
    await expect.poll(() => shown(page)).toContain('Step 3 of run 0');
    expect(await shown(page)).toContain('same digest as recorded ✓');
    expect(await shown(page)).toContain('new since step 2');
  });

  it('given the question what changed between frames 3 and 9, the page shows the cells with their changes', async () => {
    const page = await after('scene', [key('/'), type('3..9'), key('Enter')]);
    await expect.poll(() => shown(page)).toContain('From frame 3 to frame 9');
    expect(await shown(page)).toContain('agent/SessionReducer@1/main made');
  });

  it('given the question which agent wrote this, the detail names the agent, and the words that it answers', async () => {
    const page = await after('swarm', [key('/'), type('A market'), key('Enter')]);
    await expect.poll(() => shown(page, '.detail')).toContain('the model in scout 2 of markets');
    expect(await shown(page, '.detail')).toContain('You are scout 2 of the swarm markets');
  });

  it('given the question which agent wrote a memory, and from what, the detail names the agent, the request, and those who judged it', async () => {
    const page = await after('memory', [key('m'), key('j'), key('j')]);
    await expect.poll(() => shown(page, '.detail')).toContain(`Bodies have at most ${word}.`);
    const detail = await shown(page, '.detail');
    expect(detail).toContain('who scribe');
    expect(detail).toMatch(/comes from a request of the program write 1/);
    expect(detail).toMatch(/right by ben .*trust 0\.65 → 0\.67, medium/);
    expect(detail).toContain('superseded, replaced by group:crew#3');
  });

  it('given the question who could read an item at that time, the page lists each holder with the reason', async () => {
    const page = await after('memory', [key('/'), type('group:crew#2'), key('Enter')]);
    await expect.poll(() => shown(page, '.detail')).toContain('ben a member of the group, as member');
    expect(await shown(page, '.detail')).toMatch(/may read it \d+ the operator may do everything/);
    expect(await shown(page, '.detail')).toContain(
      'written before any reader had answered. The swarm hard had 2 tasks',
    );
    await page.getByRole('link', { name: 'on a screen of its own' }).click();
    await expect.poll(() => shown(page)).toMatch(/Who can read group:crew#2 may read it/);
    await page.keyboard.press('[');
    await expect.poll(() => shown(page)).toMatch(/Who could read group:crew#2 at frame \d+ may read it/);
  });

  it('given the question what waits on people, the first screen lists it with the line that answers it', async () => {
    const page = await after('scene', []);
    expect(await shown(page)).toMatch(/It waits for people 3/);
    expect(await shown(page)).toContain('reprise tree answer upgrade/2 VALUE --world shown.db');
  });

  it('given the question whether anything ran twice, the screen of trouble says so in a sentence', async () => {
    const page = await after('edit', [key('6')]);
    await expect.poll(() => shown(page)).toContain('nothing may have run twice');
  });

  it('given the question what would have happened otherwise, the detail of an act has the line of a fork in which it was denied', async () => {
    const page = await after('edit', [key('/'), type('src/cart.js'), key('Enter')]);
    await expect.poll(() => shown(page, '.detail')).toContain('reprise fork shown.db --deny');
    const line = await page.locator('.detail .command code').innerText();
    const [, verb = '', , ...options] = line.split(' ');
    const { code, out } = await run(verb, folder.file('edit.db'), ...options, '--json');
    expect([code, out]).toEqual([expect.any(Number), expect.stringContaining('"status":"denied"')]);
  });

  it('given the question who may do what at that time, the page shows the rights of a holder as of that frame', async () => {
    const page = await after('swarm', [key('['), key('7')]);
    await expect.poll(() => shown(page)).toContain('May do');
    expect(page.url()).toContain('at=');
  });
});
