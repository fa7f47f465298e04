/**
 * Drives the page in a real browser, as a user would, and takes screenshots: `node drive/drive.mjs [FOLDER]`. Needs
 * chromium; without it, prints a message and exits with 3.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBrowser } from './browser.mjs';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const SIZE = { width: 900, height: 760 };

const scratch = await mkdtemp(path.join(tmpdir(), 'reprise-chat-'));
const pictures = path.resolve(process.argv[2] ?? scratch);
await mkdir(pictures, { recursive: true });
const browser = await startBrowser();
if (browser === undefined) {
  console.error('There is no chromium here: install one, or name it in CHROMIUM. Nothing was driven.');
  process.exitCode = 3;
} else {
  const server = await startServer();
  try {
    await driven(browser, server.url);
    console.log(`driven; pictures in ${pictures}`);
  } finally {
    server.child.kill('SIGINT');
    await browser.close();
  }
}
if (pictures !== scratch) await rm(scratch, { recursive: true, force: true });

async function startServer() {
  const program = ['--conditions=@reprise/source', '--import', import.meta.resolve('tsx'), MAIN, '--port', '0'];
  const child = spawn(process.execPath, [...program, '--world', path.join(scratch, 'chat.db')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      const found = chunk.toString().match(/http:\/\/[^\s]+/)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error('the server ended')));
  });
  return { child, url };
}

async function driven(page, url) {
  const picture = (name) => page.screenshot(path.join(pictures, `chat-${name}.png`));
  await page.open(url, SIZE);
  await page.shows('Say for how many');
  await page.say('A table for 4 at 20:00');
  await page.shows('waits for you');
  await picture('1-approval');

  // A page that is loaded again while an item is pending shows the item.
  await page.call('Page.reload');
  await page.until('document.readyState === "complete"');
  await page.shows('waits for you');
  await page.press('Agree');
  await page.shows('It is booked.');
  await ended(page);
  await picture('2-booked');

  await page.say('And a table for 2 at 18:30');
  await page.until('document.body.innerText.split("waits for you").length === 2', 'it asks again');
  await page.press('Refuse');
  await page.shows('Then I leave it');
  await ended(page);

  await page.say('Tell me a story');
  await page.shows('It kept a list');
  await page.say('Make it a long one');
  await page.shows('Make it a long one');
  await picture('3-story');
  await page.press('Stop');
  await ended(page);
  assert.ok(!(await page.text()).includes('the most honest thing'), 'it stopped in the middle');

  const before = await page.text();
  await page.call('Page.reload');
  await page.shows('It kept a list');
  assert.equal(normal(await page.text()), normal(before), 'a reload keeps the conversation');
  await picture('4-reloaded');
}

/** Waits until no run is in progress. */
function ended(page) {
  const stop = '[...document.querySelectorAll("button")].some(({ textContent }) => textContent === "Stop")';
  return page.until(`!${stop}`, 'nothing is under way');
}

/** Messages sent during a run are known only to the page that sent them. */
function normal(text) {
  return text.replace(/^.*(✓ read|…)$/gm, '').replace(/\s+/g, ' ');
}
