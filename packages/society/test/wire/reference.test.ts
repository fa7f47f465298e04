/** The reference pages of societies list the bounds and the refusals of the code. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as society from '../../src/index.js';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const SRC = path.join(ROOT, 'packages/society/src');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** A page from a heading to the next heading of the same level. */
function sectionOf(page: string, title: string): string {
  const [, after = ''] = page.split(`\n## ${title}\n`);
  return after.split('\n## ')[0] ?? '';
}

/** The cells of the rows of all tables, without their heads. */
function rowsOf(section: string): readonly (readonly string[])[] {
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(' | '));
}

/** The number in a cell such as `49,152 (48 KiB)`. */
const numberIn = (cell = '') => Number(cell.replace(/ \(.*/, '').replaceAll(',', ''));

describe('the reference of societies', () => {
  it('every bound of a society is listed with its number, and every listed one is a bound', () => {
    const groups = Object.entries(society).filter(([name]) => /_BOUNDS$/.test(name));
    expect(groups).toHaveLength(6);
    const { L1_BYTES_MAX, LINKS_MAX } = society;
    const bounds = groups.flatMap(([name, of]) =>
      Object.entries(of as Readonly<Record<string, number>>).map(([field, n]) => [`\`${name}.${field}\``, n]),
    );
    const listed = rowsOf(sectionOf(read('docs/reference/bounds.md'), 'Societies'));
    expect(new Map(listed.map(([name = '', bound]) => [name, numberIn(bound)]))).toEqual(
      new Map([...bounds, ['`L1_BYTES_MAX`', L1_BYTES_MAX], ['`LINKS_MAX`', LINKS_MAX]] as [string, number][]),
    );
    for (const [name = '', , file = ''] of listed) {
      const constant = name.replaceAll('`', '').split('.')[0];
      expect(read(file.replaceAll('`', ''))).toContain(`export const ${constant} =`);
    }
  });

  it('every refusal of a society has its row, and every row a source', () => {
    const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(path.join(SRC, file), 'utf8'));
    const given = new Set(
      sources.flatMap((text) => [...text.matchAll(/\b(?:refusal|refuse)\('(\w+)'/g)].map(([, code]) => code)),
    );
    expect(given.size).toBeGreaterThan(30);
    const rows = rowsOf(sectionOf(read('docs/reference/society.md'), 'Refusals'));
    const listed = new Set(rows.flatMap(([codes = '']) => [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => code)));
    expect([...given].filter((code) => !listed.has(code))).toEqual([]);
    expect([...listed].filter((code) => !sources.some((text) => text.includes(`'${code}'`)))).toEqual([]);
  });
});
