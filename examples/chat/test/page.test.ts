/**
 * The page in a real browser, used as people use it. Needs chromium; without one, each test says so and is skipped.
 * `PICTURES=FOLDER` saves what it looks like on the way.
 */
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Browser, type Page, startBrowser } from '../drive/browser.js';
import { type Program, startProgram } from '../drive/program.js';

const SIZE = { width: 900, height: 760 };
const PHONE = { width: 390, height: 760 };
const { PICTURES } = process.env;

let browser: Browser | undefined;
let folder: string;
/** One server for all tests, each with a chat of its own. */
let server: Program;
let chats = 0;
let chat: string;
let pages: Page[];

beforeAll(async () => {
  // A name of another site that points at this machine, as DNS rebinding makes it.
  browser = await startBrowser(['--host-resolver-rules=MAP rebound.example 127.0.0.1']);
  if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true });
  if (browser === undefined) return;
  folder = await mkdtemp(path.join(tmpdir(), 'reprise-chat-'));
  server = await startProgram(path.join(folder, 'chat.db'));
});
afterAll(async () => {
  if (browser === undefined) return;
  await browser.close();
  await server.end('SIGTERM');
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async (context) => {
  if (browser === undefined) context.skip('no chromium is installed here: install one, or name it in CHROMIUM');
  pages = [];
  chat = `guest-${chats++}`;
  return async () => void (await Promise.all(pages.map((page) => page.close())));
});

/** Opens the chat of this test in a tab. */
async function tab(url = `${server.url}/#${chat}`, size = SIZE): Promise<Page> {
  if (browser === undefined) throw new Error('no browser');
  const page = await browser.open(url, size);
  pages.push(page);
  return page;
}

/** Starts the server of another site. */
async function elsewhere(body: string): Promise<string> {
  const other = createServer((_, response) => response.setHeader('content-type', 'text/html').end(body));
  await once(other.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    other.close();
    other.closeAllConnections();
  });
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
}

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES !== undefined) await page.screenshot(path.join(PICTURES, `${name}.png`));
}

/** Waits until no answer is being written. */
async function idle(page: Page): Promise<void> {
  await page.until(
    '![...document.querySelectorAll("button")].some(({ textContent }) => /^Stop/.test(textContent))',
    'it is idle',
  );
}

const conversation = (page: Page) => page.evaluate<string>('document.querySelector("ol").innerText');
const announced = (page: Page) => page.evaluate<string>('document.querySelector("[role=status]").textContent');
const typed = (page: Page) => page.evaluate<string>('document.querySelector("textarea").value');
const focused = (page: Page) =>
  page.evaluate<string>(
    '(({ tagName, textContent, ariaLabel }) => [tagName, ariaLabel ?? textContent].join(" "))(document.activeElement)',
  );

describe('the chat page in a browser', () => {
  it('after a reload, the page has the same conversation, what is half typed, and follows a message that waits', async () => {
    const page = await tab();
    await page.shows('What may it be?');
    await picture(page, 'empty');
    await page.say('Tell me a story');
    await page.shows('It kept a list');
    await page.type('A table for 4 at 20:00');
    await page.press('After this');
    await page.shows('waits for its turn');
    await page.type('And for half a sen');
    await picture(page, 'queued');

    await page.reload();
    await page.shows('waits for its turn');
    expect(await typed(page)).toBe('And for half a sen');
    await page.shows('the most honest thing');
    await page.shows('May I book?');
    await page.hides('waits for its turn');
    await picture(page, 'queued-asks');
    await page.press('Agree');
    await page.shows('It is booked. Table 2 at 20:00 for 4.');
    await idle(page);
    await picture(page, 'queued-booked');

    const before = await conversation(page);
    await page.reload();
    await page.shows('It is booked.');
    expect(await conversation(page)).toBe(before);
    expect(page.problems).toEqual([]);
  });

  it('the page reconnects after the server was killed in the middle of an answer, has the answer once, and sends what was typed meanwhile', async () => {
    const page = await tab();
    await page.say('Tell me a story');
    await page.shows('One morning the kitchen');
    await server.end('SIGKILL');
    await page.shows('Connecting again');
    await page.type('A table for 2 at 18:30');
    await page.press('After this');
    await page.shows('Not sent yet');
    await picture(page, 'server-away');
    server = await startProgram(path.join(folder, 'chat.db'), server.port);
    await page.hides('Connecting again');
    await page.shows('waits for its turn');
    await page.shows('the most honest thing');
    await page.shows('May I book?');
    await picture(page, 'server-back');
    await page.press('Refuse');
    await page.shows('Then I leave it');
    await idle(page);
    const text = await conversation(page);
    expect(text.split('Once there was a kettle')).toHaveLength(2);
    expect(text.split('A table for 2 at 18:30')).toHaveLength(2);
    await page.reload();
    await page.shows('Then I leave it');
    expect(await conversation(page)).toBe(text);
  });

  it('two tabs show the same conversation, whichever sends and whichever decides', async () => {
    const [left, right] = [await tab(), await tab()];
    await left.front();
    await left.shows('What may it be?');
    await left.say('A table for 4 at 20:00');
    await left.shows('May I book?');
    await left.type('half a sentence');
    const third = await tab();
    await third.shows('May I book?');
    expect(await typed(third)).toBe(''); // what is half typed belongs to its tab
    await right.front();
    await right.shows('May I book?');
    expect(await conversation(right)).toBe(await conversation(left));
    await right.press('Refuse');
    await right.shows('Then I leave it');
    await left.front();
    await left.shows('Then I leave it');
    await left.hides('May I book?');
    expect(await typed(left)).toBe('half a sentence');
    await picture(left, 'two-tabs-left');

    await right.front();
    await idle(right);
    await right.say('Tell me a story');
    await right.shows('It kept a list');
    await left.front();
    await left.shows('It kept a list');
    await left.press('Stop');
    await left.shows('Stopped.');
    await right.front();
    await right.shows('Stopped.');
    await idle(right);
    await picture(right, 'two-tabs-right');
    expect(await conversation(right)).toBe(await conversation(left));
    expect([...left.problems, ...right.problems]).toEqual([]);
  });

  it('a foreign name that points at this machine, and the pages of other sites, reach nothing', async () => {
    const page = await tab();
    const rebound = await tab(`http://rebound.example:${server.port}/`);
    await rebound.shows('Unknown host "rebound.example');
    await picture(rebound, 'foreign-host');
    expect(await rebound.evaluate(`fetch('/api/chat/${chat}').then(({ status }) => status)`)).toBe(403);

    await page.front();
    await page.say('Tell me a story');
    await page.shows('It kept a list');
    const other = await tab(await elsewhere(`<form method="post" enctype="text/plain"></form>`));
    const stop = `${server.url}/api/chat/${chat}/stop`;
    for (const type of ['text/plain', 'application/json']) {
      const options = `{ method: 'POST', mode: 'no-cors', body: '{}', headers: { 'content-type': '${type}' } }`;
      expect(await other.evaluate(`fetch('${stop}', ${options}).catch(({ message }) => message)`)).toBe(
        'Failed to fetch',
      );
    }
    await other.evaluate(`document.forms[0].action = '${stop}', document.forms[0].submit()`);
    await other.shows('Requests from other sites are refused');
    await page.front();
    await page.shows('the most honest thing');
  });

  it('headings, tables, lists, links and every line of a block of code are shown as what they are', async () => {
    const page = await tab();
    const tags = (selector: string) =>
      page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('${selector}')].map(({ textContent }) => textContent)`,
      );
    await page.say('Show me the menu');
    await page.shows('More is at');
    await idle(page);
    await picture(page, 'markdown');
    expect(await tags('article h4')).toEqual(['Today']);
    expect(await tags('article th')).toEqual(['Dish', 'For', 'Price']);
    expect(await tags('article tbody tr')).toHaveLength(3);
    expect(await tags('article ol > li')).toHaveLength(2);
    expect(await tags('article pre')).toEqual([
      '# for those who book by program\ncurl localhost:4400/api/chat/ada\n\necho "a table for 4 at 20:00"',
    ]);
    expect(await tags('article blockquote')).toEqual(['The kettle is not for sale.']);
    expect(await tags('article a')).toEqual(['https://example.org/menu']);
    const lines = Array.from({ length: 10_000 }, (_, i) => `line ${i} < 7 && "x"`);
    const long = ['~~~ts', ...lines.slice(0, 4_000), '~~~'].join('\n');
    await page.paste(`Say nothing of this:\n${long}`);
    await page.until(`document.querySelectorAll('.bubble pre').length === 1`, 'the code is shown');
    expect(await tags('.bubble pre')).toEqual([lines.slice(0, 4_000).join('\n')]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(SIZE.width);
    expect(page.problems).toEqual([]);
  });

  it('a link of an answer leads to the web or to mail, says where when its words name another place, and loads nothing', async () => {
    const page = await tab();
    const links = [
      '[run](javascript:alert(1))',
      '[file](file:///etc/passwd)',
      '[https://bank.example](https://evil.example/x)',
      '[docs](https://docs.example/a)',
      '![spy](https://evil.example/pixel.png)',
    ];
    await page.say(`Say ${links.join(' and ')}`);
    await page.shows('I book tables');
    const hrefs = `[...document.querySelectorAll('.bubble a')].map((a) => a.getAttribute('href'))`;
    expect(await page.evaluate(hrefs)).toEqual(['https://evil.example/x', 'https://docs.example/a']);
    const said = await page.evaluate<string>(`document.querySelector('.bubble').textContent`);
    expect(said).toContain('https://bank.example (https://evil.example/x)');
    expect(said).toContain('![spy](https://evil.example/pixel.png)');
    expect(await page.evaluate('document.images.length')).toBe(0);
  });

  it('a script that gets into the page does not run', async () => {
    const page = await tab();
    await page.say('Say <img src=x onerror="window.injected = true"> please');
    await page.shows('I book tables');
    const inline = `{
      const script = document.createElement('script');
      script.textContent = 'window.injected = true';
      document.body.append(script);
      document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.injected = true">');
    }`;
    await page.evaluate(inline);
    await page.until('document.images[0].complete');
    expect(await page.evaluate('window.injected === undefined')).toBe(true);
    expect(page.problems.join()).toContain('Content Security Policy');
  });

  it('by keyboard alone, a person hears of a question, goes to it, agrees, and types on', async () => {
    const page = await tab();
    await page.shows('What may it be?');
    await page.type('A table for 4 at 20:00');
    await page.key('Enter');
    await page.until(
      'document.querySelector("[role=status]").textContent.includes("waits for you")',
      'it is announced',
    );
    expect(await announced(page)).toBe('May I book? waits for you. Press Shift and Tab, then Enter, to go there.');
    await page.key('Tab', { shift: true });
    expect(await focused(page)).toBe('BUTTON A question waits for you');
    await page.key('Enter');
    expect(await focused(page)).toMatch(/^SECTION May I book\?/);
    await picture(page, 'keyboard-question');
    await page.key('Tab');
    expect(await focused(page)).toBe('BUTTON Agree');
    await picture(page, 'keyboard-agree');
    await page.key('Enter');
    expect(await focused(page)).toBe('TEXTAREA Message');
    await page.until(
      'document.querySelector("[role=status]").textContent.includes("It is booked.")',
      'it is announced',
    );
    expect(await page.unnamed()).toEqual([]);
    await page.type('Tell me a story');
    await page.key('Enter');
    await page.shows('It kept a list');
    expect(await announced(page)).not.toContain('Once');
    expect(page.problems).toEqual([]);
  });

  it('on a phone, and in the dark, nothing is cut off', async () => {
    const page = await tab(undefined, PHONE);
    await page.prefer('dark');
    await page.say(`A table for 4 at 20:00 ${'please'.repeat(30)}`);
    await page.shows('May I book?');
    await picture(page, 'phone-dark');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
  });
});
