/** The page of the mechanisms of organizations: each search of its table prints the files that stand beside it. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/explanation/mechanisms.md'), 'utf8');

/** A row of the table: the mechanism, its search, and the files that the search prints. */
interface Row {
  readonly mechanism: string;
  readonly pattern: RegExp;
  readonly folders: readonly string[];
  readonly prints: readonly string[];
}

const COMMAND = /^`grep -rlE "(.*)" packages\/\{([a-z,]+)\}\/(src\S*)`$/;

function rowsOf(page: string): readonly Row[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| **'))
    .map((line) => {
      const [mechanism = '', command = '', printed = ''] = line
        .slice(2, -2)
        .split(/(?<!\\) \| /)
        .map((cell) => cell.trim());
      const [, pattern, packages = '', below = ''] = COMMAND.exec(command.replaceAll('\\|', '|')) ?? [];
      if (pattern === undefined) throw new Error(`this is no search of the table: ${command}`);
      const files = printed.startsWith('nothing') ? [] : [...printed.matchAll(/`(packages\/[^`]+)`/g)];
      return {
        mechanism,
        pattern: new RegExp(pattern),
        folders: packages.split(',').map((name) => `packages/${name}/${below}`),
        prints: files.map(([, file = '']) => file).sort(),
      };
    });
}

/** What `grep -rlE` prints. */
function found({ pattern, folders }: Pick<Row, 'pattern' | 'folders'>): readonly string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/')),
    )
    .filter((file) =>
      readFileSync(path.join(ROOT, file), 'utf8')
        .split('\n')
        .some((line) => pattern.test(line)),
    )
    .sort();
}

const rows = rowsOf(PAGE);

describe('the mechanisms of organizations', () => {
  it.each(rows.map((row) => [row.mechanism.replace(/^\*\*(.*?)\*\*.*/, '$1'), row] as const))(
    'the search for a second place of the mechanism "%s" prints what the page says',
    (_, row) => {
      expect(found(row)).toEqual(row.prints);
    },
  );

  it('the table has the mechanisms of the kit, and a search finds a mechanism that is built by hand', () => {
    expect(rows.length).toBeGreaterThan(9);
    const [keys] = rows;
    expect(keys?.pattern.test("const at = String(n).padStart(7, '0');")).toBe(true);
    expect(() => rowsOf('| **Keys** | `rg padStart` | nothing |')).toThrow('this is no search of the table');
  });
});
