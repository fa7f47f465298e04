/** The mistakes of app authors, each with the answer that it gets: `DOCS_UPDATE=1` writes the answers into the page. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { answeredPage } from './docs-mistakes.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PAGE = path.join(ROOT, 'docs/reference/mistakes.md');
// Inside the repository, so that the packages resolve by name as they do in an app.
const folder = mkdtempSync(path.join(ROOT, 'node_modules/.mistakes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the page of mistakes', () => {
  it('each mistake of the page gets the answer that the page shows, from the compiler and at run time', async () => {
    const written = readFileSync(PAGE, 'utf8');
    const page = await answeredPage(ROOT, folder, written);
    if (process.env.DOCS_UPDATE === '1') writeFileSync(PAGE, page);
    else expect(written).toBe(page);
    const answers = page.split(/^### /m).slice(1);
    expect(answers).toHaveLength(25);
    for (const answer of answers) expect(answer).toMatch(/The compiler:|At run time:/);
  });
});
