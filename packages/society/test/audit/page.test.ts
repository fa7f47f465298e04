/** The reference page lists the problems of an audit. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AUDIT_PROBLEMS } from 'reprise/society';
import { expect, it } from 'vitest';

const PAGE = fileURLToPath(new URL('../../../../docs/reference/society.md', import.meta.url));

it('the reference page lists each problem of an audit with its meaning [SOC-54]', () => {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split('\n## Problems\n');
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, code, meaning]) => [code, meaning]);
  expect(Object.fromEntries(rows)).toEqual(AUDIT_PROBLEMS);
});
