/** The pages that teach are run as they stand, and the pages that list are held to what they list. */
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readPages, rewriteOutputs } from './docs-pages.js';
import { runPage } from './docs-run.js';
import { sourcesOf, typeProblems } from './docs-types.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
// Inside the repository, so that the packages resolve by name as they do in an app.
const folder = mkdtempSync(path.join(ROOT, 'node_modules/.docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pages = readPages(ROOT, ['docs/tutorial', 'docs/how-to']);

describe('tutorials and how-to pages', () => {
  it('their TypeScript compiles', () => {
    expect(typeProblems(ROOT, sourcesOf(ROOT, pages))).toEqual([]);
  });

  it.concurrent.each(pages.map((page) => [page.file, page] as const))('%s prints what it promises', async (_, page) => {
    const { surprises, printed } = await runPage(ROOT, page, path.join(folder, page.file.replaceAll('/', '-')));
    if (process.env.DOCS_UPDATE === '1') rewriteOutputs(ROOT, page, printed);
    expect(surprises).toEqual([]);
  });
});
