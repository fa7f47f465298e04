import { mkdirSync } from 'node:fs';
import { it } from 'vitest';
import { makeMemories } from '../../cli/test/operators/memory-scene.js';
import { settled, show, startBrowser } from './page/browser.js';

it('shots', async () => {
  mkdirSync('/tmp/m/shots', { recursive: true });
  const browser = await startBrowser();
  for (const [name, file] of [
    ['swarm', '/tmp/m/s.db'],
    ['mem', '/tmp/m/mem2.db'],
  ] as const) {
    if (name === 'mem') await makeMemories(file);
    const shown = await show(browser, file);
    const paths: [string, string][] =
      name === 'swarm'
        ? [
            ['list', '/memory'],
            ['item', '/memory/group%3Aresearch/3'],
            ['society', '/society'],
            ['rights', '/rights?item=group%3Aresearch%233&at=120'],
          ]
        : [
            ['mlist', '/memory'],
            ['mitem', '/memory?sel=group%3Acrew%231'],
          ];
    for (const [what, path] of paths)
      for (const scheme of ['light', 'dark'] as const)
        for (const width of [1200, 360]) {
          if (name === 'mem' && scheme === 'dark') continue;
          const page = await shown.page(path, { width, scheme });
          await settled(page);
          await page.setViewportSize({ width, height: what === 'society' ? 2400 : 1100 });
          await settled(page);
          await page.screenshot({ path: `/tmp/m/shots/${what}-${scheme}-${width}.png` });
          if (page.seen.errors.length > 0) console.log(path, page.seen.errors);
          await page.context().close();
        }
    await shown.close();
  }
  await browser.close();
}, 300000);
