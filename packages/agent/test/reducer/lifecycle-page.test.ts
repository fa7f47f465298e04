import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withTables } from './lifecycle-page.js';

const PAGE = new URL('../../../../docs/reference/session-lifecycle.md', import.meta.url);

describe('the page about the lifecycle', () => {
  it('the page about the lifecycle has the tables of the reducer (DOCS_UPDATE=1 rewrites them) [SES-1]', () => {
    const page = readFileSync(PAGE, 'utf8');
    if (process.env.DOCS_UPDATE === '1') writeFileSync(PAGE, withTables(page));
    expect(readFileSync(PAGE, 'utf8')).toBe(withTables(page));
  });

  it('a changed word in a table of the page is detected', () => {
    const page = readFileSync(PAGE, 'utf8');
    const changed = page.replace('✗ `already_paused`', 'acts');
    expect(changed).not.toBe(page);
    expect(withTables(changed)).not.toBe(changed);
  });
});
