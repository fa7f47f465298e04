/** The mistakes of the first hour, each with what is printed: `DOCS_UPDATE=1` writes it into the page. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { printedPage } from './docs-first.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PAGE = path.join(ROOT, 'docs/reference/first-mistakes.md');
// Inside the repository, so that the packages resolve by name as they do in an app.
const folder = mkdtempSync(path.join(ROOT, 'node_modules/.first-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the page of first mistakes', () => {
  it('each first mistake prints what the page shows: words, and what to do next', async () => {
    const written = readFileSync(PAGE, 'utf8');
    const page = await printedPage(ROOT, folder, written);
    if (process.env.DOCS_UPDATE === '1') writeFileSync(PAGE, page);
    else expect(written).toBe(page);
    const printed = [...page.matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    expect(printed.length).toBeGreaterThanOrEqual(20);
    for (const text of printed) {
      expect(text.trim()).not.toBe('');
      expect(text).not.toMatch(/\[object |undefined|ConnectionFailed|^\s+at /m);
    }
  });
});
