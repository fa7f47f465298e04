/** A real Chromium, and pages of it that show a world through the real server. */
import { existsSync } from 'node:fs';
import { sqlite } from '@reprise/store-sqlite';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startedOnce } from '../../../../scripts/lib/process-scene.js';
import { requireApp } from '../../../cli/src/world/app.js';
import { openInspector } from '../../src/inspector.js';

const PATHS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = PATHS.find((path) => path !== undefined && existsSync(path));
const isNeeded = process.env.REPRISE_BROWSER === 'must';

const ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
];

/** Tests that need a browser: without one they are skipped in words, or fail where `REPRISE_BROWSER=must` says so, as in CI. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (executablePath === undefined && !isNeeded)
    describe.skip(`${name} (skipped: there is no Chromium here; CHROMIUM names one)`, tests);
  else
    describe(name, () => {
      it('a Chromium is at hand, or CHROMIUM names one', () => expect(executablePath).toBeDefined());
      tests();
    });
}

/** What a page did besides showing: nothing of it may happen. */
export interface Seen {
  /** Errors in its console, and errors that nothing caught. */
  readonly errors: string[];
  /** Requests to other places than its server. */
  readonly outside: string[];
}

/** How a page is opened. */
export interface View {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
  /** Gets the address of each request. */
  readonly onRequest?: (url: string) => void;
}

/** A world that is shown. */
export interface Shown {
  /** The address of the server, without a path. */
  readonly origin: string;
  readonly token: string;
  /** Opens a page at a path; what it does wrong is in `seen`. */
  page(path: string, view?: View): Promise<Page & { seen: Seen }>;
  /** Ends the server, and leaves the pages open. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a browser. */
export async function startBrowser(): Promise<Browser> {
  return startedOnce('playwright', () =>
    chromium.launch({ executablePath: executablePath ?? '', args: ARGS, timeout: 0 }),
  );
}

/** Shows a world by the server of this package, with the app that can replay it. */
export async function show(browser: Browser, file: string, path = 'shown.db'): Promise<Shown> {
  const store = await sqlite(file).openReadonly();
  const inspector = await openInspector({
    ...{ store, path },
    apps: async () => {
      const { app, legacy } = await requireApp(store, {});
      return { app, legacy };
    },
  });
  const shown = showAt(browser, inspector.url);
  const stop = async (): Promise<void> => {
    await inspector.close();
    await store.close();
  };
  return {
    ...{ ...shown, stop },
    close: async () => {
      await shown.close();
      await stop();
    },
  };
}

/** The pages of a server. */
function showAt(browser: Browser, url: string): Omit<Shown, 'stop'> {
  const { origin, hash } = new URL(url);
  const token = hash.replace('#token=', '');
  const contexts: BrowserContext[] = [];
  return {
    origin,
    token,
    async page(path, { width = 1200, scheme = 'light', onRequest } = {}) {
      const context = await browser.newContext({
        viewport: { width, height: 780 },
        colorScheme: scheme,
        bypassCSP: false,
      });
      context.setDefaultTimeout(0); // the limit of the test is the only one: a busy machine is no failure
      contexts.push(context);
      const page = Object.assign(await context.newPage(), {
        seen: { errors: [] as string[], outside: [] as string[] },
      });
      page.on('console', (message) => {
        if (message.type() === 'error') page.seen.errors.push(message.text());
      });
      page.on('pageerror', (error) => page.seen.errors.push(error.message));
      page.on('request', (request) => {
        onRequest?.(request.url());
        if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:'))
          page.seen.outside.push(request.url());
      });
      await page.goto(`${origin}${path}#token=${token}`);
      await page.locator('main').waitFor();
      return page;
    },
    close: async () => {
      for (const context of contexts) await context.close();
    },
  };
}

/** Waits until a page has nothing left to read. */
export async function settled(page: Page): Promise<void> {
  await expect.poll(async () => page.locator('text=/^(Reading|Opening|Searching) .*…$/').count()).toBe(0);
  await page.waitForLoadState('load');
}
