/** A page in a real Chromium that follows a session, is reloaded at any moment, and whose connections break at any byte. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { AnyAgent } from '@reprise/agent';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { randomFrom } from '../../../conformance/random.js';
import { describeInBrowser, startBrowser } from '../../inspect/test/page/browser.js';
import { CuttingProxy } from '../../server/test/api/cutting-proxy.js';
import { servedSessions } from '../../server/test/api/world.js';

const SEED = Number(process.env.REPRISE_SEED ?? 46);
/** Half of them are reloads, half are cuts. */
const BREAKS = Math.ceil(200 / stepOf(5));

/** The page: it keeps what it was told, and goes on behind the last of it. */
const PAGE = `<!doctype html><title>Follows a session</title><script type="module">
  import { connect } from './client.js';
  const { url, token } = Object.fromEntries(new URLSearchParams(location.search));
  const log = (localStorage.getItem('log') ?? '').split(' ').filter((one) => one !== '');
  const after = log.at(-1);
  for await (const told of connect(url, { token }).session('ann').events(after === undefined ? {} : { after })) {
    if (!('cursor' in told)) continue;
    log.push(told.cursor);
    localStorage.setItem('log', log.join(' '));
  }
</script>`;

/** Serves the page and the client, as an app does. */
async function pageServer(): Promise<{ readonly origin: string; close(): void }> {
  const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url));
  const made = await build({ entryPoints: [entry], bundle: true, format: 'esm', platform: 'browser', write: false });
  const client = made.outputFiles[0]?.text ?? '';
  const server = createServer(({ url }, response) => {
    const isClient = url === '/client.js';
    response.setHeader('content-type', isClient ? 'text/javascript' : 'text/html').end(isClient ? client : PAGE);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describeInBrowser('a page that follows a session', () => {
  it(`a page that is reloaded or cut ${BREAKS} times loses no event and is told none twice (seed ${SEED}; again: REPRISE_SEED=${SEED} npx vitest run packages/client/test/browser.test.ts)`, async () => {
    const random = randomFrom(SEED);
    const pages = await pageServer();
    const proxy = await CuttingProxy.open();
    const at = `http://127.0.0.1:${proxy.port}`;
    await using served = await servedSessions({ http: { origins: [pages.origin, at], limits: { perSecond: 10_000 } } });
    proxy.to = Number(new URL(served.url).port);
    const session = (await served.as('human:ann')).session('ann');
    const token = await served.tokens.issue('human:ann', { for: '1h' });
    let sent = 0;
    const say = () => session.send({ id: `m${sent++}`, text: `message ${sent}`, agent: 'talker' });
    await say();
    const browser = await startBrowser();
    const page = await browser.newPage();
    proxy.bytes = () => 300 + Math.floor(random() * 3_000);
    await page.goto(`${pages.origin}/?${new URLSearchParams({ url: at, token })}`);
    for (let cuts = -1; proxy.cuts < BREAKS / 2; await later(5)) {
      if (proxy.cuts > cuts) await say();
      cuts = proxy.cuts;
    }
    for (let reloads = 0; reloads < BREAKS / 2; reloads++) {
      await say();
      await later(random() * 60);
      await page.reload({ waitUntil: 'commit' });
    }
    proxy.bytes = () => undefined;
    await expect.poll(() => served.world.kernel.unfinished).toBe(false);
    const talker = served.world.agents.find(({ name }) => name === 'talker') as AnyAgent;
    const all: string[] = [];
    for await (const { event_seq } of served.world.session('ann', talker).events({ channel: 'model', follow: false }))
      all.push(`${event_seq}.${served.world.kernel.id.slice(0, 8)}`);
    const log = () => page.evaluate<string>("localStorage.getItem('log') ?? ''");
    await expect.poll(async () => (await log()).split(' ').length).toBeGreaterThanOrEqual(all.length);
    expect(await log()).toBe(all.join(' '));
    await browser.close();
    proxy.close();
    pages.close();
  });
});
